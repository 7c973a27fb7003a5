import { createHash } from 'node:crypto';
import { withHarvesterCondition } from '@sheaf/api/virtualization/harvester-conditions';
import type { Condition, Setting } from '@sheaf/api/virtualization/index';
import type { SettingPin } from './pins.ts';
import type { SettingDefinition, SettingUse } from './setting-table.ts';

/** Which value the last pass has seen. */
export const hashAnnotation = 'harvesterhci.io/hash';
const upgradeAnnotation = 'harvesterhci.io/upgrade-patched';

export interface SettingFacts {
  readonly definition: SettingDefinition;
  readonly pin?: SettingPin | undefined;
  /** Why the pinned value cannot be had; the object is planned without it then. */
  readonly refusal?: string;
  /** RFC 3339 in seconds. */
  readonly now: string;
}

export type SettingStep =
  | { readonly action: 'none' }
  | { readonly action: 'create'; readonly object: Setting }
  | { readonly action: 'update'; readonly object: Setting };

/** What is to be written so that a setting is there, has its default and tells what becomes of it. */
export function planSetting(observed: Setting | undefined, facts: SettingFacts): SettingStep {
  if (!observed)
    return { action: 'create', object: complete({ metadata: { name: facts.definition.name } }, facts) };
  if (observed.metadata.deletionTimestamp !== undefined) return { action: 'none' };
  const object = complete(observed, facts);
  return object === observed ? { action: 'none' } : { action: 'update', object };
}

/** The very same object comes back if it is complete. */
function complete(observed: Setting, facts: SettingFacts): Setting {
  const chosen = withChoice(observed, facts);
  const hashed = withHash(chosen, facts.definition);
  const conditions = conditionsOf(hashed, hashed !== chosen, facts);
  if (hashed === observed && conditions === observed.status?.conditions) return observed;
  return { ...hashed, status: { ...observed.status, conditions } };
}

/** The environment goes before everybody; without it the value stays whose it is. */
function withChoice(observed: Setting, { definition, pin, refusal }: SettingFacts): Setting {
  const fallback = pin?.default ?? definition.default;
  const withDefault = observed.default === fallback ? observed : { ...observed, default: fallback };
  if (pin?.value === undefined)
    return observed.source === 'env' ? { ...withDefault, source: '' } : withDefault;
  if (refusal !== undefined) return withDefault;
  const isSame = observed.value === pin.value && observed.source === 'env';
  return isSame ? withDefault : { ...withDefault, value: pin.value, source: 'env' };
}

/** A value that was never set needs no trace; one that was cleared does. */
function withHash(setting: Setting, { isAppliedAtStart = false }: SettingDefinition): Setting {
  const { annotations } = setting.metadata;
  const known = annotations?.[hashAnnotation];
  if (!setting.value && !known && !isAppliedAtStart) return setting;
  const text = `${setting.value ?? ''}${annotations?.[upgradeAnnotation] ?? ''}`;
  const hash = createHash('sha224').update(text).digest('hex');
  if (hash === known) return setting;
  const { metadata } = setting;
  return { ...setting, metadata: { ...metadata, annotations: { ...annotations, [hashAnnotation]: hash } } };
}

function conditionsOf(
  setting: Setting,
  isNew: boolean,
  { definition, pin, refusal = pin?.defaultProblem, now }: SettingFacts,
): readonly Condition[] {
  const used = withHarvesterCondition(setting.status?.conditions ?? [], effective(definition.use), now);
  if (refusal !== undefined) return withHarvesterCondition(used, refused(refusal), now);
  const wasRefused = used.some(({ type, reason }) => type === 'configured' && reason === refusedReason);
  return isNew || wasRefused ? withHarvesterCondition(used, configured(setting, definition.use), now) : used;
}

/** Whether the setting does anything in this release. */
function effective(use: SettingUse): Condition {
  const type = 'Effective';
  switch (use.kind) {
    case 'read':
      return { type, status: 'True', reason: 'Read', message: use.effect };
    case 'told':
      return { type, status: 'True', reason: 'Told', message: 'clients read it' };
    case 'kept': {
      const message = `it is checked and kept, but this release does not have what it is for: ${use.capability}`;
      return { type, status: 'False', reason: 'KeptForCompatibility', message };
    }
  }
}

/** Whether the value has been acted on. */
function configured({ value }: Setting, use: SettingUse): Condition {
  const type = 'configured';
  if (!value) return { type, status: 'False', reason: '', message: '' };
  return use.kind === 'kept'
    ? { ...effective(use), type }
    : { type, status: 'True', reason: '', message: '' };
}

const refusedReason = 'Refused';

function refused(message: string): Condition {
  return { type: 'configured', status: 'False', reason: refusedReason, message };
}
