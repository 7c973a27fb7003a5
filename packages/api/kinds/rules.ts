import type { GoStruct } from '../builtin/go-type.ts';
import { findGoKind } from '../builtin/kinds.ts';
import { emptyStruct } from '../codec/conform.ts';
import { asJson, type GroupVersionKind, type KubeObject, parseApiVersion } from '../meta/object.ts';
import { admissionRules } from './admission/rules.ts';
import { appsRules } from './apps/rules.ts';
import { autoscalerConversion } from './autoscaling/conversion.ts';
import { autoscalingRules } from './autoscaling/rules.ts';
import { batchRules } from './batch/rules.ts';
import { eventConversion } from './core/event-conversion.ts';
import { coreRules } from './core/rules.ts';
import type { KindConversion, KindRules } from './kind-rules.ts';
import { networkingRules } from './networking/rules.ts';
import { rbacRules } from './rbac/rules.ts';
import { smallGroupRules } from './small-groups.ts';
import { storageRules } from './storage/rules.ts';

const usual: KindRules = {};

const byKind: ReadonlyMap<string, KindRules> = new Map(
  Object.entries({
    ...coreRules,
    ...appsRules,
    ...batchRules,
    ...autoscalingRules,
    ...networkingRules,
    ...rbacRules,
    ...admissionRules,
    ...storageRules,
    ...smallGroupRules,
  }),
);

/** The rules of a built-in kind, by group and kind; the usual ones where none are written. */
export function kindRulesOf(group: string, kind: string): KindRules {
  const rules = byKind.get(`${group}/${kind}`) ?? usual;
  const empty = new Map<string, GoStruct | undefined>();
  return {
    ...rules,
    applyDefaults(object) {
      if (object['status'] === undefined) fillStatus(object, empty);
      rules.applyDefaults?.(object);
    },
  };
}

/** The status that Go writes even when it is empty; nothing for kinds that have none. */
function fillStatus(object: KubeObject, known: Map<string, GoStruct | undefined>): void {
  const { apiVersion = '', kind = '' } = object;
  if (!known.has(apiVersion)) {
    const struct = findGoKind({ ...parseApiVersion(apiVersion), kind });
    known.set(apiVersion, struct?.fieldsByName.get('status')?.absentStruct);
  }
  const status = known.get(apiVersion);
  if (status !== undefined) asJson(object)['status'] = emptyStruct(status);
}

/** How a built-in kind is kept, where that is not its own shape. */
export function conversionOf({ group, version, kind }: GroupVersionKind): KindConversion | undefined {
  if (group === 'autoscaling' && version === 'v1' && kind === 'HorizontalPodAutoscaler')
    return autoscalerConversion;
  return group === 'events.k8s.io' && kind === 'Event' ? eventConversion : undefined;
}
