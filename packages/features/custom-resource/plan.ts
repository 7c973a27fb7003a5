import { type Condition, findCondition, type KubeObject, withCondition } from '@sheaf/api';
import { isJsonObject } from '@sheaf/base';
import type { ResourceRef } from '@sheaf/client';

/** Set by the server when a definition is deleted; held until its instances are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export type DefinitionStep =
  | { readonly action: 'none' }
  /** Nothing can have been made of it. */
  | { readonly action: 'release'; readonly condition: Claim }
  | { readonly action: 'delete-instances'; readonly resource: ResourceRef }
  /** Its instances cannot be reached. */
  | { readonly action: 'blocked'; readonly condition: Claim };

type Claim = Omit<Condition, 'lastTransitionTime'>;

interface DefinitionFields extends KubeObject {
  readonly spec?: {
    readonly group?: string;
    readonly scope?: string;
    readonly names?: { readonly plural?: string; readonly kind?: string };
    readonly versions?: readonly { readonly name: string; readonly served: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(cleanupFinalizer);
}

/** Its users have been told that its instances go. */
export function isTerminating(crd: KubeObject): boolean {
  return findCondition(conditionsOf(crd), 'Terminating')?.status === 'True';
}

export function planDefinition(crd: KubeObject): DefinitionStep {
  if (!isBeingDeleted(crd)) return { action: 'none' };
  if (findCondition(conditionsOf(crd), 'Established')?.status !== 'True')
    return { action: 'release', condition: finished('NeverEstablished', 'resource was never established') };
  const resource = resourceOf(crd);
  if (resource) return { action: 'delete-instances', resource };
  return {
    action: 'blocked',
    condition: terminating(
      'InstanceDeletionFailed',
      'could not list instances: no version is served; set served to true for one of spec.versions',
    ),
  };
}

export function conditionsOf(crd: KubeObject): readonly Condition[] {
  return (crd as DefinitionFields).status?.conditions ?? [];
}

/** The definition with the condition in its status; the very same one if it says so already. */
export function withTerminating(crd: KubeObject, condition: Claim, now: string): KubeObject {
  const old = conditionsOf(crd);
  const conditions = withCondition(old, condition, now);
  if (conditions === old) return crd;
  return { ...crd, status: { ...(isJsonObject(crd['status']) ? crd['status'] : {}), conditions } };
}

export const allRemoved = finished('InstanceDeletionCompleted', 'removed all instances');

/** What is left, and which finalizers hold it: the names of those who must act. */
export function inProgress(remaining: readonly KubeObject[]): Claim {
  if (remaining.length === 0)
    return terminating('InstanceDeletionInProgress', 'CustomResource deletion is in progress');
  const holders = new Map<string, number>();
  for (const { metadata } of remaining)
    for (const finalizer of metadata.finalizers ?? [])
      holders.set(finalizer, (holders.get(finalizer) ?? 0) + 1);
  const held = [...holders].map(([name, count]) => `${name} in ${count}`).sort();
  const text = `CustomResource deletion is in progress: ${remaining.length} remaining`;
  return terminating(
    'InstanceDeletionInProgress',
    held.length === 0 ? text : `${text}, finalizers: ${held.join(', ')}`,
  );
}

export function deletionFailed(message: string): Claim {
  return terminating('InstanceDeletionFailed', `could not issue all deletes: ${message}`);
}

function terminating(reason: string, message: string): Claim {
  return { type: 'Terminating', status: 'True', reason, message };
}

function finished(reason: string, message: string): Claim {
  return { type: 'Terminating', status: 'False', reason, message };
}

function resourceOf(crd: KubeObject): ResourceRef | undefined {
  const { group = '', scope, names = {}, versions = [] } = (crd as DefinitionFields).spec ?? {};
  const version = versions.find(({ served }) => served);
  if (!version) return undefined;
  const { plural = '', kind = '' } = names;
  return { group, version: version.name, plural, kind, namespaced: scope === 'Namespaced' };
}
