import { type AdmissionContext, type AdmissionRule, type AdmissionVerdict, allow, deny } from '@sheaf/api';
import { experimentalLabel, longestChartName } from '@sheaf/api/addon/index';
import type { Addon } from '@sheaf/api/virtualization/index';
import { nameReads, nameRules } from './name-rules.ts';

const addons = { group: 'harvesterhci.io', resource: 'addons' };
/** They may not go, whatever their labels say. */
const kept: ReadonlySet<string> = new Set(['rancher-monitoring', 'rancher-logging', 'kubeovn-operator']);

/** What add-ons may be. */
export const addonRule: AdmissionRule = {
  name: 'addon',
  targets: [addons],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  reads: [addons, ...nameReads],
  validate(object, old, context) {
    if (!object) return checkRemoval(old as Addon | undefined);
    return old ? checkChange(object as Addon, old as Addon, context) : checkNew(object as Addon, context);
  },
};

function checkNew(addon: Addon, { objects }: AdmissionContext): AdmissionVerdict {
  const { length } = addon.metadata.name ?? '';
  if (length > longestChartName)
    return deny({
      reason: 'Invalid',
      message: `metadata.name: the name of an add-on has at most ${longestChartName} characters, for its Job has it in its own; this one has ${length}`,
      wayOut: 'Give it a shorter name.',
    });
  const { chart } = addon.spec;
  const other = objects.list(addons).find((each) => (each as Addon).spec.chart === chart);
  if (!other) return allow();
  const { namespace, name } = other.metadata;
  return deny({
    reason: 'Conflict',
    message: `the chart ${chart} is that of the add-on ${namespace}/${name} already`,
    wayOut: 'Enable that one, or delete it first.',
  });
}

function checkChange(addon: Addon, old: Addon, context: AdmissionContext): AdmissionVerdict {
  if (addon.metadata.deletionTimestamp !== undefined) return allow();
  if (addon.spec.chart !== old.spec.chart)
    return deny({
      reason: 'BadRequest',
      message: `the chart of an add-on cannot be changed: it is ${old.spec.chart}`,
      wayOut: 'Make another add-on for the other chart.',
    });
  const { namespace, name = '' } = addon.metadata;
  const rule = nameRules.find((each) => each.name === name && (each.namespace ?? namespace) === namespace);
  const isBypassed = rule?.bypass !== undefined && addon.metadata.annotations?.[rule.bypass] === 'true';
  const refusal = isBypassed ? undefined : rule?.check({ addon, old, objects: context.objects });
  return refusal ? deny({ reason: 'BadRequest', ...refusal }) : allow(...progressOf(addon, old));
}

/** The wish is taken; what it waits for is said, and only while there is something. */
function progressOf(addon: Addon, old: Addon): readonly string[] {
  const progress = old.status?.conditions?.find(({ type }) => type === 'InProgress');
  if (progress?.status !== 'True' || JSON.stringify(addon.spec) === JSON.stringify(old.spec)) return [];
  const { name } = addon.metadata;
  return [
    `an existing operation is in progress on addon ${name}: ${progress.message}; this change follows it`,
  ];
}

function checkRemoval(addon: Addon | undefined): AdmissionVerdict {
  const name = addon?.metadata.name ?? '';
  const isExperimental = addon?.metadata.labels?.[experimentalLabel] === 'true';
  if (addon === undefined || (isExperimental && !kept.has(name))) return allow();
  return deny({
    reason: 'BadRequest',
    message: `the add-on ${name} cannot be deleted`,
    wayOut: 'Disable it instead (spec.enabled: false).',
  });
}
