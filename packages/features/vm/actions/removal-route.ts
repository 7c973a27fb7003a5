import {
  asJson,
  type ExtensionAnswer,
  emptyAnswer,
  jsonAnswer,
  type Route,
  type RouteRequest,
} from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { untilFresh } from '../carry-out.ts';
import { claimNameOf } from '../instance-spec.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { machineResource } from '../vm-resources.ts';

/** Names of claims, with commas, that go with the machine; its controller sees to it. */
const removedAnnotation = 'harvesterhci.io/removedPersistentVolumeClaims';
const goldenAnnotation = 'harvesterhci.io/goldenImage';

/** `DELETE …?removedDisks=DISK`, repeatable: the machine goes, and with it the claims of these disks. */
export function removalRoute(client: Client, path: string): Route {
  return {
    method: 'DELETE',
    path,
    access: 'authorized',
    handle: (request) => remove(client, request),
  };
}

async function remove(client: Client, request: RouteRequest): Promise<ExtensionAnswer> {
  const { parameters, signal } = request;
  const { namespace = '', name = '' } = parameters;
  const place = { namespace, name };
  const target = { group: 'kubevirt.io', resource: 'virtualmachines', ...place };
  await request.authorize({ verb: 'delete', ...target });
  const machine = await client.get(machineResource, place, signal);
  const claims = await removableClaims(client, request, machine);
  for (const claim of claims)
    await request.authorize({
      verb: 'delete',
      group: '',
      resource: 'persistentvolumeclaims',
      namespace,
      name: claim,
    });
  await untilFresh(async () => {
    const { metadata, ...rest } = await client.get(machineResource, place, signal);
    const annotations = { ...metadata.annotations, [removedAnnotation]: claims.join(',') };
    await client.update(machineResource, { ...rest, metadata: { ...metadata, annotations } }, { signal });
  });
  await client.delete(machineResource, place, { signal });
  const left = await client.find(machineResource, place, signal);
  return left ? jsonAnswer(200, asJson(left)) : emptyAnswer(204);
}

async function removableClaims(
  client: Client,
  { query, signal }: RouteRequest,
  { metadata, spec }: VirtualMachine,
): Promise<readonly string[]> {
  const { namespace = '' } = metadata;
  const wanted = new Set(query.getAll('removedDisks').filter((disk) => disk !== ''));
  const volumes = spec.template.spec.volumes ?? [];
  const unknown = [...wanted].find((disk) => !volumes.some(({ name }) => name === disk));
  if (unknown !== undefined)
    throw new StatusError({
      reason: 'Invalid',
      message: `there is no disk ${JSON.stringify(unknown)} in this machine: nothing has been removed; name disks of spec.template.spec.volumes`,
    });
  const names = volumes
    .filter(({ name }) => wanted.has(name))
    .map(claimNameOf)
    .filter((name) => name !== undefined);
  const removable: string[] = [];
  for (const name of names) {
    const claim = await client.find(resources.persistentVolumeClaims, { namespace, name }, signal);
    // Others begin with its content: it stays.
    if (claim && claim.metadata.annotations?.[goldenAnnotation] !== 'true') removable.push(name);
  }
  return removable;
}
