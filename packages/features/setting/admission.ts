import {
  type AdmissionContext,
  type AdmissionMutation,
  type AdmissionRule,
  type AdmissionVerdict,
  allow,
  deny,
  patchWith,
} from '@sheaf/api';
import { SettingProblem } from '@sheaf/api/setting/index';
import type { Setting } from '@sheaf/api/virtualization/index';
import { type SettingPin, variableOf } from './pins.ts';
import { ClusterProblem } from './rules/rule.ts';
import { findSetting, type SettingDefinition } from './setting-table.ts';

const looksAt = [
  { group: '', resource: 'nodes' },
  { group: '', resource: 'secrets' },
  { group: 'harvesterhci.io', resource: 'settings' },
  { group: 'harvesterhci.io', resource: 'virtualmachinebackups' },
  { group: 'harvesterhci.io', resource: 'virtualmachinerestores' },
  { group: 'k8s.cni.cncf.io', resource: 'network-attachment-definitions' },
  { group: 'kubevirt.io', resource: 'virtualmachines' },
  { group: 'kubevirt.io', resource: 'virtualmachineinstances' },
  { group: 'kubevirt.io', resource: 'virtualmachineinstancemigrations' },
  { group: 'snapshot.storage.k8s.io', resource: 'volumesnapshotclasses' },
];

/**
 * What settings may say. A setting that says nothing can always be made, whatever state the cluster is in: the server
 * makes all of them when it starts.
 */
export function settingRule(pins: ReadonlyMap<string, SettingPin>): AdmissionRule {
  return {
    name: 'setting',
    targets: [{ group: 'harvesterhci.io', resource: 'settings' }],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    reads: looksAt,
    mutate: (object) => markCustomized(object),
    validate: (object, old, context) => verdict({ object: object, old: old, context, pins }),
  };
}

interface Question {
  readonly object: Setting | undefined;
  readonly old: Setting | undefined;
  readonly context: AdmissionContext;
  readonly pins: ReadonlyMap<string, SettingPin>;
}

function markCustomized(setting: Setting | undefined): AdmissionMutation {
  if (!setting) return allow();
  const customized = Boolean(setting.value) && setting.value !== setting.default;
  if (setting.customized === customized) return allow();
  return patchWith({ op: 'add', path: '/customized', value: customized });
}

function verdict({ object, old, context, pins }: Question): AdmissionVerdict {
  const name = (object ?? old)?.metadata.name ?? '';
  const definition = findSetting(name);
  if (!object) return deletion(definition);
  if (!definition)
    return allow(
      `there is no setting ${name}: it is kept, but nothing reads it; kubectl get settings shows those there are`,
    );
  const pinned = old && pinnedElsewhere(object, old, pins.get(name));
  if (pinned) return pinned;
  return contents(definition, { object, old, context });
}

function deletion(definition: SettingDefinition | undefined): AdmissionVerdict {
  if (!definition?.isPermanent) return allow();
  return deny({
    reason: 'MethodNotAllowed',
    message: `the setting ${definition.name} cannot be deleted`,
    wayOut: `Reset it instead: kubectl patch setting ${definition.name} --type merge -p '{"value":""}'.`,
  });
}

function pinnedElsewhere(
  object: Setting,
  old: Setting,
  pin: SettingPin | undefined,
): AdmissionVerdict | undefined {
  const { value = '' } = object;
  if (pin?.value === undefined || value === pin.value || value === (old.value ?? '')) return undefined;
  const name = object.metadata.name ?? '';
  return deny({
    reason: 'Forbidden',
    message: `the setting ${name} is set by the environment of the server`,
    wayOut: `Change or remove the variable ${variableOf(name)} where the server is started, and start it anew.`,
  });
}

interface Contents extends Pick<Question, 'old' | 'context'> {
  readonly object: Setting;
}

function contents(definition: SettingDefinition, { object, old, context }: Contents): AdmissionVerdict {
  const fields = (['value', 'default'] as const).filter(
    (field) => textIn(object, field) !== textIn(old, field),
  );
  if (old ? fields.length === 0 : !object.value) return allow();
  for (const field of fields) {
    const text = textIn(object, field);
    const isFree = text === '' || (field === 'default' && text === definition.default);
    const refusal = isFree ? undefined : refusalOf(field, () => definition.rule?.(text));
    if (refusal) return refusal;
  }
  const change = { setting: object, old, builtInDefault: definition.default, objects: context.objects };
  return refusalOf('value', () => definition.clusterRule?.(change)) ?? allow();
}

function textIn(setting: Setting | undefined, field: 'value' | 'default'): string {
  return setting?.[field] ?? '';
}

function refusalOf(field: 'value' | 'default', check: () => unknown): AdmissionVerdict | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof SettingProblem) return denial(field, error);
    throw error;
  }
}

function denial(field: string, problem: SettingProblem): AdmissionVerdict {
  const { message, wayOut } = problem;
  if (problem instanceof ClusterProblem) return deny({ reason: problem.reason, message, wayOut });
  const cause = { reason: 'FieldValueInvalid', field, message };
  return deny({ reason: 'Invalid', message: `${field}: ${message}`, wayOut, causes: [cause] });
}
