import { type JsonObject, jsonEqual } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, required } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { changedFields } from '../changed-fields.ts';
import type { Errors } from '../checks.ts';
import { listAt, numberAt, specOf, textAt } from '../fields.ts';
import { podErrors } from './pod-validation.ts';

const mayChange =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** A pod that exists changes little: images, a nearer deadline, more tolerations, fewer gates. */
export function validatePodUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = podErrors(next);
  const [spec, kept] = [specOf(next), specOf(old)];
  for (const list of ['containers', 'initContainers']) {
    if (listAt(spec, list).length !== listAt(kept, list).length)
      return [...errors, forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
    checkImages(errors, `spec.${list}`, listAt(spec, list));
  }
  if (!checkDeadline(errors, spec, kept)) return errors;
  checkTolerations(errors, listAt(spec, 'tolerations'), listAt(kept, 'tolerations'));
  checkGates(errors, listAt(spec, 'schedulingGates'), listAt(kept, 'schedulingGates'));
  if (jsonEqual(spec, kept)) return errors;
  const munged = withAllowed(spec, kept);
  if (!jsonEqual(munged, kept))
    errors.push(
      forbiddenField(
        'spec',
        `pod updates may not change fields other than ${mayChange}\n${changedFields('spec', munged, kept)}`,
      ),
    );
  return errors;
}

/** Upstream says this twice: once of any pod, once of a change. */
function checkImages(errors: Errors, field: string, containers: readonly JsonObject[]): void {
  for (const [index, container] of containers.entries()) {
    const image = textAt(container, 'image');
    if (image === '') errors.push(required(`${field}[${index}].image`));
    if (image !== image.trim())
      errors.push(invalid(`${field}[${index}].image`, image, 'must not have leading or trailing whitespace'));
  }
}

/** False where nothing more is to be said. */
function checkDeadline(errors: Errors, spec: JsonObject, kept: JsonObject): boolean {
  const [given, before] = [numberAt(spec, 'activeDeadlineSeconds'), numberAt(kept, 'activeDeadlineSeconds')];
  const field = 'spec.activeDeadlineSeconds';
  if (given === undefined) {
    if (before !== undefined)
      errors.push(invalid(field, null, 'must not update from a positive integer to nil value'));
    return true;
  }
  if (before === undefined || before >= given) return true;
  errors.push(invalid(field, given, 'must be less than or equal to previous value'));
  return false;
}

function withoutSeconds({ tolerationSeconds: _seconds, ...others }: JsonObject): JsonObject {
  return others;
}

function checkTolerations(errors: Errors, given: readonly JsonObject[], kept: readonly JsonObject[]): void {
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  const isMissing = kept.some(
    (one) => !given.some((other) => jsonEqual(withoutSeconds(other), withoutSeconds(one))),
  );
  if (isMissing) errors.push(forbiddenField('spec.tolerations', detail));
}

function checkGates(errors: Errors, given: readonly JsonObject[], kept: readonly JsonObject[]): void {
  const known = new Set(kept.map((gate) => textAt(gate, 'name')));
  const added = given.find((gate) => !known.has(textAt(gate, 'name')));
  if (added !== undefined)
    errors.push(
      forbiddenField(
        `spec.schedulingGates[${given.indexOf(added)}].name`,
        `only deletion is allowed, but found new scheduling gate '${textAt(added, 'name')}'`,
      ),
    );
}

/** The new spec with the old values of what may change. */
function withAllowed(spec: JsonObject, kept: JsonObject): JsonObject {
  const munged: JsonObject = { ...spec };
  for (const list of ['containers', 'initContainers']) {
    const before = listAt(kept, list);
    if (spec[list] !== undefined)
      munged[list] = listAt(spec, list).map((container, index) => ({
        ...container,
        ...(before[index]?.['image'] === undefined ? {} : { image: before[index]['image'] }),
      }));
  }
  for (const name of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) restore(munged, kept, name);
  if (
    (numberAt(kept, 'terminationGracePeriodSeconds') ?? 0) < 0 &&
    munged['terminationGracePeriodSeconds'] === 1
  )
    restore(munged, kept, 'terminationGracePeriodSeconds');
  // A pod that is held back may still be told where to go.
  if (listAt(kept, 'schedulingGates').length > 0)
    for (const name of ['nodeSelector', 'affinity']) restore(munged, kept, name);
  return munged;
}

function restore(to: JsonObject, from: JsonObject, name: string): void {
  if (from[name] === undefined) delete to[name];
  else to[name] = from[name];
}
