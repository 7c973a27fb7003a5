import { type KubeObject, toApiVersion } from '@sheaf/api';
import type { Clock } from '@sheaf/base';
import { apply, type OwnershipContext, updateOwnership } from '../managed-fields/index.ts';
import type { Resource } from '../registry/resource.ts';
import { timestamp } from './write-parts.ts';

export interface Ownership {
  readonly resource: Resource;
  readonly manager: string;
  /** '' or the name of the subresource that is written. */
  readonly subresource: string;
  readonly clock: Clock;
}

/** Books the fields that a write other than an apply has changed on its manager, in `next.metadata.managedFields`. */
export function bookOwnership(ownership: Ownership, live: KubeObject | undefined, next: KubeObject): void {
  const empty = ownership.resource.strategy.emptyObject();
  const entries = updateOwnership({ ...contextOf(ownership), live, next, empty });
  if (entries.length > 0) next.metadata.managedFields = entries;
  else delete next.metadata.managedFields;
}

export interface AppliedConfiguration {
  /** Just as it was sent. */
  readonly applied: KubeObject;
  readonly force: boolean;
}

/** Lays a configuration over the object, or over nothing, and books its fields. @throws StatusError 400, 409, 422 */
export function applyOwned(
  ownership: Ownership,
  live: KubeObject | undefined,
  configuration: AppliedConfiguration,
): KubeObject {
  const { resource } = ownership;
  const empty = resource.strategy.emptyObject();
  return apply({ ...contextOf(ownership), kind: resource.kind, live, empty, ...configuration }).object;
}

function contextOf({ resource, manager, subresource, clock }: Ownership): OwnershipContext {
  const { group, version, strategy } = resource;
  return {
    manager,
    subresource,
    apiVersion: toApiVersion(group, version),
    schema: strategy.typeSchema,
    resetFields: strategy.resetFields(subresource),
    now: timestamp(clock),
  };
}
