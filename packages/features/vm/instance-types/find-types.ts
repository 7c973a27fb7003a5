import type { AdmissionObjects } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { Client, ResourceRef } from '@sheaf/client';
import type { VirtualMachine } from '../virtual-machine.ts';
import { matcherOf } from './expand-machine.ts';
import {
  type FoundTypes,
  type Purpose,
  placeFor,
  type TypeObject,
  typeGroup,
  typePlaces,
} from './machine-types.ts';

/** The kinds that rules of writing machines look at. */
export const typeResources = Object.values(typePlaces)
  .flat()
  .map(({ plural }) => ({ group: typeGroup, resource: plural }));

/** What a machine names, from the memory of the server. */
export function lookUpTypes(machine: VirtualMachine, objects: AdmissionObjects): FoundTypes {
  const find = (purpose: Purpose): TypeObject | undefined => {
    const matcher = matcherOf(machine, purpose);
    const place = matcher && placeFor(purpose, matcher);
    if (!place) return undefined;
    const { namespace = '' } = machine.metadata;
    const ref = { name: matcher.name ?? '', ...(place.isNamespaced ? { namespace } : {}) };
    return objects.find({ group: typeGroup, resource: place.plural }, ref);
  };
  return { instancetype: find('instancetype'), preference: find('preference') };
}

/** Likewise, asked of the server. */
export async function readTypes(
  client: Client,
  machine: VirtualMachine,
  signal: AbortSignal,
): Promise<FoundTypes> {
  return {
    instancetype: await readOne(client, { machine, purpose: 'instancetype' }, signal),
    preference: await readOne(client, { machine, purpose: 'preference' }, signal),
  };
}

async function readOne(
  client: Client,
  { machine, purpose }: { readonly machine: VirtualMachine; readonly purpose: Purpose },
  signal: AbortSignal,
): Promise<TypeObject | undefined> {
  const matcher = matcherOf(machine, purpose);
  const place = matcher && placeFor(purpose, matcher);
  if (!place || !matcher.name) return undefined;
  const { kind, plural, isNamespaced: namespaced } = place;
  const resource: ResourceRef<TypeObject> = {
    group: typeGroup,
    version: 'v1beta1',
    plural,
    kind,
    namespaced,
  };
  const { namespace = '' } = machine.metadata;
  try {
    return await client.find(resource, { name: matcher.name, ...(namespaced ? { namespace } : {}) }, signal);
  } catch (error) {
    // Where the kind is not served there is none.
    if (!StatusError.is(error) || error.code !== 404) throw error;
    return undefined;
  }
}
