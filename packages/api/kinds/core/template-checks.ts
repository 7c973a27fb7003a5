import type { JsonObject } from '@sheaf/base';
import { invalid, notSupported, required } from '../../meta/field-error.ts';
import { qualifiedNameErrors } from '../../meta/names.ts';
import { labelMatcherOf, matchesLabels } from '../../meta/selectors.ts';
import { type Errors, pushInvalid } from '../checks.ts';
import { fieldsAt, mapAt, objectAt, sortedFields, textAt } from '../fields.ts';
import { checkLabelSelector, checkLabels, isEmptySelector } from '../label-selector-checks.ts';
import { checkPodSpec } from './pod-spec-checks.ts';

/** The template of a workload: labels, annotations and the pod's spec. */
export function checkTemplate(errors: Errors, field: string, template: JsonObject): void {
  const metadata = fieldsAt(template, 'metadata');
  checkLabels(errors, `${field}.labels`, mapAt(metadata, 'labels'));
  for (const key of Object.keys(mapAt(metadata, 'annotations')))
    pushInvalid(
      errors,
      { field: `${field}.annotations`, value: key },
      qualifiedNameErrors(key.toLowerCase()),
    );
  checkPodSpec(errors, `${field}.spec`, fieldsAt(template, 'spec'));
}

/** Pods that are always started again. */
export function checkRestartAlways(errors: Errors, field: string, template: JsonObject): void {
  const policy = textAt(fieldsAt(template, 'spec'), 'restartPolicy');
  if (policy !== 'Always') errors.push(notSupported(`${field}.spec.restartPolicy`, policy, ['Always']));
}

interface Selection {
  readonly spec: JsonObject;
  /** In messages, e.g. deployment. */
  readonly owner: string;
}

/** The selector is there, means something, and selects the pods of the template. */
export function checkSelector(errors: Errors, field: string, { spec, owner }: Selection): void {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return void errors.push(required(`${field}.selector`));
  checkLabelSelector(errors, `${field}.selector`, selector);
  if (isEmptySelector(selector))
    errors.push(invalid(`${field}.selector`, selector, `empty selector is invalid for ${owner}`));
}

/** 'matches', 'differs', or 'malformed' for a selector that cannot be read. */
export function selects(
  selector: JsonObject | undefined,
  labels: Readonly<Record<string, string>>,
): 'matches' | 'differs' | 'malformed' {
  try {
    const matcher = labelMatcherOf(selector);
    return matcher !== null && matcher.length > 0 && matchesLabels(matcher, labels) ? 'matches' : 'differs';
  } catch {
    return 'malformed';
  }
}

export function checkTemplateLabels(errors: Errors, field: string, template: JsonObject): void {
  const labels = objectAt(fieldsAt(template, 'metadata'), 'labels');
  errors.push(
    invalid(
      `${field}.metadata.labels`,
      labels ? sortedFields(labels) : null,
      '`selector` does not match template `labels`',
    ),
  );
}

export function templateLabels(template: JsonObject): Readonly<Record<string, string>> {
  return mapAt(fieldsAt(template, 'metadata'), 'labels');
}
