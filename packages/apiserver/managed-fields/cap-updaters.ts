import { compareText } from './field-path.ts';
import { union } from './field-set.ts';
import { isSameOwner, type Owner, secondsOf } from './owners.ts';

/** More Update entries than this are not kept. */
export const maxUpdaters = 10;
const oldUpdater = 'ancient-changes';

/** Merges the oldest Update entries, per API version, into one called `ancient-changes` until there are few enough. */
export function capUpdaters(owners: Owner[]): Owner[] {
  const updaters = owners.filter(({ operation }) => operation === 'Update');
  let excess = updaters.length - maxUpdaters;
  if (excess <= 0) return owners;
  updaters.sort((a, b) => secondsOf(a.time) - secondsOf(b.time) || compareNames(a, b));
  const kept = new Set(owners);
  const buckets = new Map<string, Owner>();
  for (const updater of updaters) {
    if (excess <= 0) break;
    const bucket = buckets.get(updater.apiVersion);
    buckets.set(updater.apiVersion, bucket === undefined ? updater : mergeInto(kept, bucket, updater));
    if (bucket !== undefined) excess--;
  }
  return [...kept];
}

function compareNames(a: Owner, b: Owner): number {
  return (
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** The bucket with the updater's fields and (later) time, in place of both. */
function mergeInto(kept: Set<Owner>, bucket: Owner, updater: Owner): Owner {
  const name = {
    manager: oldUpdater,
    operation: 'Update',
    apiVersion: updater.apiVersion,
    subresource: '',
  } as const;
  const present = [...kept].find(
    (owner) => isSameOwner(owner, name) && owner !== bucket && owner !== updater,
  );
  const joined = union(updater.set, bucket.set);
  const set = present === undefined ? joined : union(joined, present.set);
  const merged: Owner = { ...name, time: updater.time, set, entry: undefined };
  for (const owner of [bucket, updater, present]) if (owner !== undefined) kept.delete(owner);
  kept.add(merged);
  return merged;
}
