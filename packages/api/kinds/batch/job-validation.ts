import { type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { checkEnum, checkNotNegative, checkOptionalEnum, type Errors, immutableField } from '../checks.ts';
import { checkTemplate, checkTemplateLabels, selects, templateLabels } from '../core/template-checks.ts';
import {
  fieldsAt,
  isTrueAt,
  listAt,
  mapAt,
  numberAt,
  objectAt,
  sortedFields,
  specOf,
  textAt,
} from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';

const uidLabel = 'batch.kubernetes.io/controller-uid';

export function validateJob(job: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  checkGeneratedSelector(errors, job);
  checkJobSpec(errors, 'spec', specOf(job));
  checkSelectsOwn(errors, specOf(job));
  return errors;
}

/** What was generated, and not written by the user, is as it was made. */
function checkGeneratedSelector(errors: Errors, job: KubeObject): void {
  const spec = specOf(job);
  if (isTrueAt(spec, 'manualSelector')) return;
  const labels = objectAt(fieldsAt(fieldsAt(spec, 'template'), 'metadata'), 'labels') ?? {};
  const { uid = '', name = '' } = job.metadata;
  const wanted = [
    ['controller-uid', uid],
    [uidLabel, uid],
    ['job-name', name],
    ['batch.kubernetes.io/job-name', name],
  ] as const;
  for (const [label, value] of wanted) {
    if (labels[label] !== value)
      errors.push(
        invalid(`spec.template.metadata.labels[${label}]`, sortedFields(labels), `must be '${value}'`),
      );
  }
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) errors.push(required('spec.selector'));
  else if (!isGenerated(selector, uid))
    errors.push(invalid('spec.selector', selector, '`selector` not auto-generated'));
}

function isGenerated(selector: JsonObject, uid: string): boolean {
  return (
    jsonEqual(selector, { matchLabels: { [uidLabel]: uid } }) ||
    jsonEqual(selector, { matchLabels: { 'controller-uid': uid } })
  );
}

function checkSelectsOwn(errors: Errors, spec: JsonObject): void {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined && isTrueAt(spec, 'manualSelector')) errors.unshift(required('spec.selector'));
  checkLabelSelector(errors, 'spec.selector', selector);
  const template = fieldsAt(spec, 'template');
  if (selects(selector, templateLabels(template)) === 'differs')
    checkTemplateLabels(errors, 'spec.template', template);
}

/** The spec of a job, or of the template of one. */
export function checkJobSpec(errors: Errors, field: string, spec: JsonObject): void {
  const counts = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ];
  for (const name of counts) checkNotNegative(errors, `${field}.${name}`, spec[name]);
  checkManager(errors, `${field}.managedBy`, spec['managedBy']);
  checkCompletionMode(errors, field, spec);
  checkFailurePolicy(errors, `${field}.podFailurePolicy`, spec);
  checkSuccessPolicy(errors, `${field}.successPolicy`, spec);
  checkOptionalEnum(errors, { field: `${field}.podReplacementPolicy`, value: spec['podReplacementPolicy'] }, [
    'Failed',
    'TerminatingOrFailed',
  ]);
  const template = fieldsAt(spec, 'template');
  checkTemplate(errors, `${field}.template`, template);
  checkRestart(
    errors,
    `${field}.template.spec.restartPolicy`,
    textAt(fieldsAt(template, 'spec'), 'restartPolicy'),
  );
}

function checkRestart(errors: Errors, field: string, policy: string): void {
  if (policy === '' || policy === 'Always')
    errors.push(required(field, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure' && policy !== 'Never')
    errors.push(notSupported(field, policy, ['OnFailure', 'Never']));
}

function checkManager(errors: Errors, field: string, manager: JsonValue | undefined): void {
  if (typeof manager !== 'string') return;
  if (!/^[^/]+\/.+$/.test(manager))
    errors.push(invalid(field, manager, 'must be a domain-prefixed path (such as "acme.io/foo")'));
}

const maxIndexed = 100_000;

function checkCompletionMode(errors: Errors, field: string, spec: JsonObject): void {
  const mode = spec['completionMode'];
  if (mode === undefined) return checkIndexNeeded(errors, field, spec);
  if (mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(notSupported(`${field}.completionMode`, mode, ['NonIndexed', 'Indexed']));
    return;
  }
  if (mode === 'NonIndexed') return checkIndexNeeded(errors, field, spec);
  if (spec['completions'] === undefined)
    errors.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  if ((numberAt(spec, 'parallelism') ?? 0) > maxIndexed)
    errors.push(
      invalid(
        `${field}.parallelism`,
        spec['parallelism'] ?? null,
        'must be less than or equal to 100000 when completion mode is Indexed',
      ),
    );
}

function checkIndexNeeded(errors: Errors, field: string, spec: JsonObject): void {
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = spec[name];
    if (value !== undefined)
      errors.push(invalid(`${field}.${name}`, value, 'requires indexed completion mode'));
  }
}

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function checkFailurePolicy(errors: Errors, field: string, spec: JsonObject): void {
  for (const [index, rule] of listAt(fieldsAt(spec, 'podFailurePolicy'), 'rules').entries()) {
    const at = `${field}.rules[${index}]`;
    checkEnum(errors, { field: `${at}.action`, value: textAt(rule, 'action') }, actions);
    const codes = objectAt(rule, 'onExitCodes');
    const hasConditions = listAt(rule, 'onPodConditions').length > 0;
    if (codes !== undefined) {
      checkEnum(errors, { field: `${at}.onExitCodes.operator`, value: textAt(codes, 'operator') }, [
        'In',
        'NotIn',
      ]);
      const values = codes['values'];
      if (!Array.isArray(values) || values.length === 0)
        errors.push(invalid(`${at}.onExitCodes.values`, [], 'at least one value is required'));
    }
    if (codes === undefined && !hasConditions)
      errors.push(oneOf(at, 'specifying one of OnExitCodes and OnPodConditions is required'));
    if (codes !== undefined && hasConditions)
      errors.push(oneOf(at, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
}

/** Upstream names no value here. */
function oneOf(field: string, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` };
}

function checkSuccessPolicy(errors: Errors, field: string, spec: JsonObject): void {
  const policy = objectAt(spec, 'successPolicy');
  if (policy === undefined) return;
  const rules = listAt(policy, 'rules');
  if (spec['completionMode'] !== 'Indexed')
    errors.push(invalid(field, { Rules: [...rules] }, 'requires indexed completion mode'));
  else if (rules.length === 0) errors.push(required(`${field}.rules`, 'at least one rules is required'));
}

/** Of the template only scheduling may change, and only while the job has not started. */
export function validateJobUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [spec, kept] = [specOf(next), specOf(old)];
  const errors: Errors = [];
  checkJobSpec(errors, 'spec', spec);
  for (const name of [
    'completions',
    'selector',
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ]) {
    if (name === 'completions' && isElastic(spec)) continue;
    errors.push(...immutableField(`spec.${name}`, spec[name], kept[name]));
  }
  const template = fieldsAt(kept, 'template');
  const started = fieldsAt(old as never, 'status')['startTime'] !== undefined;
  const allowed =
    isTrueAt(kept, 'suspend') && !started ? withScheduling(template, fieldsAt(spec, 'template')) : template;
  errors.push(...immutableField('spec.template', fieldsAt(spec, 'template'), allowed));
  return errors;
}

/** Indexed jobs may be resized as long as every completion runs at once. */
function isElastic(spec: JsonObject): boolean {
  return spec['completionMode'] === 'Indexed' && spec['completions'] === spec['parallelism'];
}

const schedulingFields = ['nodeSelector', 'tolerations', 'affinity', 'schedulingGates'] as const;

function withScheduling(kept: JsonObject, next: JsonObject): JsonObject {
  const spec: JsonObject = { ...fieldsAt(kept, 'spec') };
  const given = fieldsAt(next, 'spec');
  for (const name of schedulingFields) {
    if (given[name] === undefined) delete spec[name];
    else spec[name] = given[name];
  }
  const metadata: JsonObject = { ...fieldsAt(kept, 'metadata') };
  for (const name of ['labels', 'annotations']) {
    const value = mapAt(fieldsAt(next, 'metadata'), name);
    if (Object.keys(value).length > 0) metadata[name] = { ...value };
    else delete metadata[name];
  }
  return { ...kept, metadata, spec };
}
