import { asJson, type KubeObject } from '@sheaf/api';
import { jsonEqual } from '@sheaf/base';
import type { Desired } from './desired.ts';

export type Step =
  | { readonly action: 'none' }
  | { readonly action: 'create'; readonly object: KubeObject }
  | { readonly action: 'update'; readonly object: KubeObject };

/** What to do so that `desired` is there. Fields outside its sections belong to the users. */
export function planEnsure(desired: Desired, existing: KubeObject | undefined): Step {
  if (!existing) return { action: 'create', object: desired.object };
  const different = desired.sections.filter(
    (field) => !jsonEqual(asJson(desired.object)[field], asJson(existing)[field]),
  );
  if (different.length === 0 || existing.metadata.deletionTimestamp !== undefined) return { action: 'none' };
  const object: KubeObject = { ...existing };
  for (const field of different) {
    if (desired.object[field] === undefined) delete object[field];
    else object[field] = desired.object[field];
  }
  return { action: 'update', object };
}
