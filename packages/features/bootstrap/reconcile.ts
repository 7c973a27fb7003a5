import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { type Client, refOf, resources } from '@sheaf/client';
import type { Desired } from './desired.ts';
import { planEnsure } from './plan.ts';

/** One write that brings the default roles and bindings up to date. */
export interface PolicyWrite {
  readonly resource: 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings';
  /** `recreate`: delete by the old uid, then create. */
  readonly operation: 'create' | 'update' | 'recreate';
  readonly object: KubeObject;
  readonly oldUid?: string;
}

const policyResources = {
  clusterroles: resources.clusterRoles,
  clusterrolebindings: resources.clusterRoleBindings,
  roles: resources.roles,
  rolebindings: resources.roleBindings,
} as const;

/** Makes one object as it should be; being beaten to it by someone else is fine. */
export async function ensure(client: Client, desired: Desired, signal?: AbortSignal): Promise<void> {
  const { resource } = desired;
  const step = planEnsure(desired, await client.find(resource, refOf(desired.object), signal));
  const query = signal ? { signal } : {};
  try {
    if (step.action === 'create') await client.create(resource, step.object, query);
    if (step.action === 'update') await client.update(resource, step.object, query);
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists') && !StatusError.is(error, 'Conflict')) throw error;
  }
}

export async function writePolicy(client: Client, write: PolicyWrite): Promise<void> {
  const resource = policyResources[write.resource];
  switch (write.operation) {
    case 'create':
      await client.create(resource, write.object);
      return;
    case 'update':
      await client.update(resource, write.object);
      return;
    case 'recreate':
      await client.delete(resource, refOf(write.object), { uid: write.oldUid ?? '' });
      await client.create(resource, write.object);
      return;
  }
}
