import type { Waiting } from '@sheaf/api';
import type { DataVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { StatusError, toError } from '@sheaf/base';
import { type Client, refOf, resources } from '@sheaf/client';
import type { ObjectCache } from '@sheaf/runtime';
import type { VirtualMachine } from './virtual-machine.ts';
import { planRelease, planVolumes, type VolumeStep } from './volume-objects.ts';

export interface VolumeParts {
  readonly client: Client;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly dataVolumes: ObjectCache<DataVolume>;
}

/**
 * Makes the claims and data volumes that a machine brings along, and lets them grow. Resolves to why one of them cannot be had: a
 * machine is not held up by it, it waits for its volumes on its own.
 */
export async function ensureVolumes(
  parts: VolumeParts,
  machine: VirtualMachine,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const { namespace = '' } = machine.metadata;
  const [claims, dataVolumes] = [parts.claims.list(namespace), parts.dataVolumes.list(namespace)];
  let waiting: Waiting | undefined;
  for (const step of planVolumes(machine, { claims, dataVolumes })) {
    const error = await failureOf(() => take(parts.client, step, signal));
    if (error) waiting ??= refused(step, error, namespace);
  }
  return waiting;
}

/** Removes the claims that go with the machine, and lets go of the others. */
export async function releaseVolumes(
  { client, claims }: VolumeParts,
  machine: VirtualMachine,
  signal: AbortSignal,
): Promise<void> {
  for (const step of planRelease(machine, claims.list(machine.metadata.namespace ?? '')))
    await take(client, step, signal);
}

async function take(client: Client, step: VolumeStep, signal: AbortSignal): Promise<void> {
  try {
    switch (step.action) {
      case 'create-claim':
        await client.create(resources.persistentVolumeClaims, step.claim, { signal });
        return;
      case 'update-claim':
        await client.update(resources.persistentVolumeClaims, step.claim, { signal });
        return;
      case 'delete-claim': {
        const { uid = '' } = step.claim.metadata;
        await client.delete(resources.persistentVolumeClaims, refOf(step.claim), { uid, signal });
        return;
      }
      case 'create-data-volume':
        await client.create(resources.dataVolumes, step.dataVolume, { signal });
    }
  } catch (error) {
    if (!isSettledByOthers(step, error)) throw error;
  }
}

/**
 * Someone has made it or removed it already, or has changed it: then there is another pass. A claim that is not to be deleted is in
 * use by someone else, and stays for him.
 */
function isSettledByOthers({ action }: VolumeStep, error: unknown): boolean {
  if (StatusError.is(error, 'AlreadyExists')) return action !== 'update-claim';
  if (StatusError.is(error, 'NotFound')) return action !== 'create-claim' && action !== 'create-data-volume';
  return StatusError.is(error, 'Conflict') && (action === 'update-claim' || action === 'delete-claim');
}

async function failureOf(act: () => Promise<void>): Promise<Error | undefined> {
  try {
    await act();
    return undefined;
  } catch (thrown) {
    const error = toError(thrown);
    if (StatusError.is(error)) return error;
    throw error;
  }
}

function refused(step: VolumeStep, error: Error, namespace: string): Waiting {
  const object = step.action === 'create-data-volume' ? step.dataVolume : step.claim;
  const kind = step.action === 'create-data-volume' ? 'DataVolume' : 'PersistentVolumeClaim';
  const verb = step.action === 'update-claim' ? 'changed' : 'made';
  return {
    reason: 'VolumeRefused',
    text: `A volume of it cannot be ${verb}: ${error.message}`,
    nature: 'fault',
    wayOut: 'correct its template in the machine; it is tried again by itself',
    object: { kind, namespace, name: object.metadata.name ?? '' },
  };
}
