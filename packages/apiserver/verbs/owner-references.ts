import type { KubeObject, OwnerReference } from '@sheaf/api';
import { type JsonValue, jsonEqual } from '@sheaf/base';
import type { Warnings } from '../pipeline/warnings.ts';

/** Takes away owners that are there twice and tells the client, who should not send such. */
export function dropRepeatedOwners({ metadata }: KubeObject, warnings: Warnings): void {
  const owners = metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const kept: OwnerReference[] = [];
  const repeated = new Set<string>();
  for (const owner of owners) {
    if (kept.some((other) => other.uid === owner.uid && isSame(other, owner))) repeated.add(owner.uid);
    else kept.push(owner);
  }
  if (repeated.size === 0) return;
  metadata.ownerReferences = kept;
  warnings.add(
    '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such ' +
      `requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  );
}

function isSame(a: OwnerReference, b: OwnerReference): boolean {
  return jsonEqual(a as unknown as JsonValue, b as unknown as JsonValue);
}
