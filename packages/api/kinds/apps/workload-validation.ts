import { type JsonObject, jsonEqual } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123LabelErrors } from '../../meta/names.ts';
import type { KubeObject } from '../../meta/object.ts';
import { asJson } from '../../meta/object.ts';
import { checkEnum, checkNotNegative, type Errors, immutableField, pushInvalid } from '../checks.ts';
import {
  checkRestartAlways,
  checkSelector,
  checkTemplate,
  checkTemplateLabels,
  selects,
  templateLabels,
} from '../core/template-checks.ts';
import { fieldsAt, listAt, numberAt, objectAt, specOf, textAt } from '../fields.ts';
import { amountOf, checkAtMostAll, checkCountOrPercent } from './int-or-percent.ts';

export function validateDeployment(deployment: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(deployment);
  checkNotNegative(errors, 'spec.replicas', spec['replicas']);
  checkSelector(errors, 'spec', { spec, owner: 'deployment' });
  checkReplicaTemplate(errors, spec);
  checkDeploymentStrategy(errors, fieldsAt(spec, 'strategy'));
  checkNotNegative(errors, 'spec.minReadySeconds', spec['minReadySeconds']);
  checkNotNegative(errors, 'spec.revisionHistoryLimit', spec['revisionHistoryLimit']);
  checkNotNegative(errors, 'spec.progressDeadlineSeconds', spec['progressDeadlineSeconds']);
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0))
    errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  return errors;
}

/** Templates of Deployments and ReplicaSets. */
function checkReplicaTemplate(errors: Errors, spec: JsonObject): void {
  const selector = objectAt(spec, 'selector');
  const template = fieldsAt(spec, 'template');
  const found = selects(selector, templateLabels(template));
  if (found === 'malformed') {
    errors.push(invalid('spec.selector', selector ?? null, 'invalid label selector'));
    return;
  }
  if (found === 'differs' && (selector === undefined || Object.keys(selector).length > 0))
    checkTemplateLabels(errors, 'spec.template', template);
  checkTemplate(errors, 'spec.template', template);
  checkRestartAlways(errors, 'spec.template', template);
  if (fieldsAt(template, 'spec')['activeDeadlineSeconds'] !== undefined)
    errors.push(
      forbiddenField(
        'spec.template.spec.activeDeadlineSeconds',
        'activeDeadlineSeconds in ReplicaSet is not Supported',
      ),
    );
}

function checkDeploymentStrategy(errors: Errors, strategy: JsonObject): void {
  const rolling = objectAt(strategy, 'rollingUpdate');
  const type = textAt(strategy, 'type');
  if (type === 'Recreate') {
    if (rolling !== undefined)
      errors.push(
        forbiddenField(
          'spec.strategy.rollingUpdate',
          "may not be specified when strategy `type` is 'Recreate'",
        ),
      );
  } else if (type === 'RollingUpdate') {
    if (rolling === undefined)
      errors.push(required('spec.strategy.rollingUpdate', 'this should be defaulted and never be nil'));
    else checkRollingDeployment(errors, 'spec.strategy.rollingUpdate', rolling);
  } else {
    const shown = { Type: type, RollingUpdate: rolling ?? null };
    errors.push(notSupported('spec.strategy', shown, ['Recreate', 'RollingUpdate']));
  }
}

function checkRollingDeployment(errors: Errors, field: string, rolling: JsonObject): void {
  const { maxUnavailable, maxSurge } = rolling;
  checkCountOrPercent(errors, `${field}.maxUnavailable`, maxUnavailable);
  checkCountOrPercent(errors, `${field}.maxSurge`, maxSurge);
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0)
    errors.push(
      invalid(`${field}.maxUnavailable`, maxUnavailable ?? null, 'may not be 0 when `maxSurge` is 0'),
    );
  checkAtMostAll(errors, `${field}.maxUnavailable`, maxUnavailable);
}

export function validateReplicaSet(replicaSet: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(replicaSet);
  checkNotNegative(errors, 'spec.replicas', spec['replicas']);
  checkNotNegative(errors, 'spec.minReadySeconds', spec['minReadySeconds']);
  checkSelector(errors, 'spec', { spec, owner: 'deployment' });
  checkReplicaTemplate(errors, spec);
  return errors;
}

export function validateDaemonSet(daemonSet: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(daemonSet);
  const template = fieldsAt(spec, 'template');
  const selector = objectAt(spec, 'selector');
  if (selector !== undefined) checkSelector(errors, 'spec', { spec, owner: 'daemonset' });
  else errors.push(required('spec.selector'));
  const found = selects(selector, templateLabels(template));
  if (found === 'differs' && selector !== undefined && Object.keys(selector).length > 0)
    checkTemplateLabels(errors, 'spec.template', template);
  checkTemplate(errors, 'spec.template', template);
  checkRestartAlways(errors, 'spec.template', template);
  checkNotNegative(errors, 'spec.minReadySeconds', spec['minReadySeconds']);
  checkDaemonStrategy(errors, fieldsAt(spec, 'updateStrategy'));
  checkNotNegative(errors, 'spec.revisionHistoryLimit', spec['revisionHistoryLimit']);
  return errors;
}

function checkDaemonStrategy(errors: Errors, strategy: JsonObject): void {
  const type = textAt(strategy, 'type');
  const rolling = objectAt(strategy, 'rollingUpdate');
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: rolling ?? null };
    errors.push(notSupported('spec.updateStrategy', shown, ['RollingUpdate', 'OnDelete']));
    return;
  }
  if (rolling === undefined) return void errors.push(required('spec.updateStrategy.rollingUpdate'));
  const field = 'spec.updateStrategy.rollingUpdate';
  const { maxUnavailable, maxSurge } = rolling;
  checkCountOrPercent(errors, `${field}.maxUnavailable`, maxUnavailable);
  checkCountOrPercent(errors, `${field}.maxSurge`, maxSurge);
  if (amountOf(maxUnavailable) > 0 && amountOf(maxSurge) > 0)
    errors.push(
      invalid(`${field}.maxSurge`, maxSurge ?? null, 'may not be set when maxUnavailable is non-zero'),
    );
  else if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0)
    errors.push(required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  checkAtMostAll(errors, `${field}.maxUnavailable`, maxUnavailable);
  checkAtMostAll(errors, `${field}.maxSurge`, maxSurge);
}

export function validateStatefulSet(statefulSet: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(statefulSet);
  checkManagement(errors, textAt(spec, 'podManagementPolicy'));
  checkStatefulStrategy(errors, fieldsAt(spec, 'updateStrategy'));
  checkRetention(errors, fieldsAt(spec, 'persistentVolumeClaimRetentionPolicy'));
  checkNotNegative(errors, 'spec.replicas', spec['replicas']);
  checkNotNegative(errors, 'spec.minReadySeconds', spec['minReadySeconds']);
  checkNotNegative(errors, 'spec.ordinals.start', fieldsAt(spec, 'ordinals')['start']);
  checkSelector(errors, 'spec', { spec, owner: 'statefulset' });
  const service = textAt(spec, 'serviceName');
  if (service !== '')
    pushInvalid(errors, { field: 'spec.serviceName', value: service }, dns1123LabelErrors(service));
  checkStatefulTemplate(errors, spec);
  return errors;
}

function checkManagement(errors: Errors, policy: string): void {
  if (policy !== 'OrderedReady' && policy !== 'Parallel')
    errors.push(invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
}

function checkStatefulStrategy(errors: Errors, strategy: JsonObject): void {
  const type = textAt(strategy, 'type');
  const rolling = objectAt(strategy, 'rollingUpdate');
  const shown = rolling && {
    Partition: rolling['partition'] ?? 0,
    MaxUnavailable: rolling['maxUnavailable'] ?? null,
  };
  if (type === 'OnDelete') {
    if (shown !== undefined)
      errors.push(
        invalid(
          'spec.updateStrategy.rollingUpdate',
          shown,
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      );
  } else if (type === 'RollingUpdate') {
    checkNotNegative(errors, 'spec.updateStrategy.rollingUpdate.partition', rolling?.['partition']);
  } else {
    errors.push(
      invalid(
        'spec.updateStrategy',
        { Type: type, RollingUpdate: shown ?? null },
        "must be 'RollingUpdate' or 'OnDelete'",
      ),
    );
  }
}

function checkRetention(errors: Errors, retention: JsonObject): void {
  for (const name of ['whenDeleted', 'whenScaled']) {
    const field = `spec.persistentVolumeClaimRetentionPolicy.${name}`;
    checkEnum(errors, { field, value: textAt(retention, name) }, ['Retain', 'Delete']);
  }
}

function checkStatefulTemplate(errors: Errors, spec: JsonObject): void {
  const template = fieldsAt(spec, 'template');
  const selector = objectAt(spec, 'selector');
  const found = selects(selector, templateLabels(template));
  if (found === 'malformed') errors.push(invalid('spec.selector', selector ?? null, ''));
  else if (found === 'differs' && selector !== undefined && Object.keys(selector).length > 0)
    checkTemplateLabels(errors, 'spec.template', template);
  checkTemplate(errors, 'spec.template', withClaimVolumes(template, spec));
  checkRestartAlways(errors, 'spec.template', template);
  if (fieldsAt(template, 'spec')['activeDeadlineSeconds'] !== undefined)
    errors.push(
      forbiddenField(
        'spec.template.spec.activeDeadlineSeconds',
        'activeDeadlineSeconds in StatefulSet is not Supported',
      ),
    );
}

/** The template as its pods will be: with a volume for each claim that they get of their own. */
function withClaimVolumes(template: JsonObject, spec: JsonObject): JsonObject {
  const podSpec = fieldsAt(template, 'spec');
  const volumes = listAt(podSpec, 'volumes');
  const known = new Set(volumes.map((volume) => textAt(volume, 'name')));
  const claimed = listAt(spec, 'volumeClaimTemplates')
    .map((claim) => textAt(fieldsAt(claim, 'metadata'), 'name'))
    .filter((name) => name !== '' && !known.has(name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...podSpec, volumes: [...volumes, ...claimed] } };
}

/** The rules of creation, and a selector that stays. */
export function selectorStays(
  validate: (object: KubeObject) => readonly FieldError[],
): (next: KubeObject, old: KubeObject) => readonly FieldError[] {
  return (next, old) => [
    ...validate(next),
    ...immutableField('spec.selector', specOf(next)['selector'], specOf(old)['selector']),
  ];
}

const mayChange = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

export function validateStatefulSetUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [a, b]: JsonObject[] = [{ ...specOf(next) }, { ...specOf(old) }];
  for (const name of mayChange) {
    delete a?.[name];
    delete b?.[name];
  }
  const errors = validateStatefulSet(next);
  if (jsonEqual(a, b)) return errors;
  return [
    ...errors,
    forbiddenField(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ),
  ];
}

export function validateControllerRevision(revision: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(revision);
  checkNotNegative(errors, 'revision', fields['revision']);
  if (fields['data'] === undefined || fields['data'] === null)
    errors.push(required('data', 'data is mandatory'));
  return errors;
}

export function validateControllerRevisionUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...immutableField('data', asJson(next)['data'], asJson(old)['data']),
    ...validateControllerRevision(next),
  ];
}
