import { type FieldError, forbiddenField, invalid } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Errors } from '../checks.ts';
import { listAt, specOf, textAt } from '../fields.ts';
import { checkPodSpec } from './pod-spec-checks.ts';

/** What holds for pods whenever they are written. */
export function podErrors(pod: KubeObject): Errors {
  const errors: Errors = [];
  const spec = specOf(pod);
  checkPodSpec(errors, 'spec', spec);
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of listAt(spec, list).entries()) {
      const image = textAt(container, 'image');
      if (image !== image.trim())
        errors.push(
          invalid(`spec.${list}[${index}].image`, image, 'must not have leading or trailing whitespace'),
        );
    }
  }
  return errors;
}

export function validatePod(pod: KubeObject): readonly FieldError[] {
  const errors = podErrors(pod);
  const spec = specOf(pod);
  if (listAt(spec, 'ephemeralContainers').length > 0)
    errors.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  if (textAt(spec, 'nodeName') !== '' && listAt(spec, 'schedulingGates').length > 0)
    errors.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  return errors;
}
