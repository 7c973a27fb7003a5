import type { KubeObject, OwnerReference } from '@sheaf/api';
import { resources } from '@sheaf/client';
import type { ActionCall } from './action-call.ts';

/** New names of Secrets, and what they are copies of. */
export type SecretNames = ReadonlyMap<string, string>;

/** The server reads Secrets for the user here: only what the user may read, and where the user may make them. */
export async function mayCopySecrets({ request, place }: ActionCall, names: SecretNames): Promise<void> {
  const { namespace } = place;
  const question = { group: '', resource: 'secrets', namespace };
  for (const original of new Set(names.values()))
    await request.authorize({ ...question, verb: 'get', name: original });
  if (names.size > 0) await request.authorize({ ...question, verb: 'create' });
}

/** Reads all before the first is made, so that nothing is half copied for want of one. */
export async function readSecrets(
  { client, place, signal }: ActionCall,
  names: SecretNames,
): Promise<readonly KubeObject[]> {
  const { namespace } = place;
  const copies: KubeObject[] = [];
  for (const [name, original] of names) {
    const { type, data } = await client.get(resources.secrets, { namespace, name: original }, signal);
    copies.push({ metadata: { namespace, name }, type, data });
  }
  return copies;
}

export async function createSecrets(
  { client, signal }: ActionCall,
  secrets: readonly KubeObject[],
  owner: OwnerReference,
): Promise<void> {
  for (const secret of secrets) {
    const metadata = { ...secret.metadata, ownerReferences: [owner] };
    await client.create(resources.secrets, { ...secret, metadata }, { signal });
  }
}
