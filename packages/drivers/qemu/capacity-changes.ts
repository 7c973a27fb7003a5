import { type JsonObject, StatusError } from '@sheaf/base';
import type { ChangedMachine } from './device-changes.ts';
import { deviceIds, devicesPath, numberAt } from './machine-facts.ts';
import type { MachineLink } from './machine-link.ts';
import { objectAt, objectsIn, textAt } from './qmp-client.ts';

/** Plugs in all processors of the sockets below `sockets` that are not there. */
export async function setSockets({ link, spec }: ChangedMachine, sockets: number): Promise<void> {
  const slots = objectsIn(await link.execute('query-hotpluggable-cpus'));
  const room = new Set(slots.map(socketOf)).size;
  if (sockets > room)
    throw refused(`machine ${spec.id} has room for ${room} sockets, not ${sockets}: restart it with more`);
  const absent = slots.filter((slot) => slot['qom-path'] === undefined && socketOf(slot) < sockets);
  // The program names them from the last to the first.
  for (const slot of absent.reverse()) {
    const place = objectAt(slot, 'props');
    const id = `cpu-${['socket-id', 'core-id', 'thread-id'].map((name) => numberAt(place, name)).join('-')}`;
    await link.execute('device_add', { driver: textAt(slot, 'type') ?? '', id, ...place });
  }
}

/** Adds one module with what is missing. */
export async function setMemory({ link, spec }: ChangedMachine, bytes: number): Promise<void> {
  const summary = await link.execute('query-memory-size-summary');
  const absent = bytes - numberAt(summary, 'base-memory') - numberAt(summary, 'plugged-memory');
  if (absent <= 0) return;
  if (bytes > (spec.memory.maxBytes ?? spec.memory.bytes))
    throw refused(`machine ${spec.id} was started without room for ${bytes} bytes: restart it with more`);
  const devices = deviceIds(await link.execute('qom-list', { path: devicesPath }));
  const number = devices.filter((id) => id.startsWith('module-')).length;
  const backend = `memory-${number}`;
  // A life before this one may have made it, with another size.
  await removeObject(link, backend);
  await link.execute('object-add', { 'qom-type': 'memory-backend-ram', id: backend, size: absent });
  try {
    await link.execute('device_add', { driver: 'pc-dimm', id: `module-${number}`, memdev: backend });
  } catch (error) {
    await removeObject(link, backend);
    throw error;
  }
}

async function removeObject(link: MachineLink, id: string): Promise<void> {
  const objects = deviceIds(await link.execute('qom-list', { path: '/objects' }));
  if (objects.includes(id)) await link.execute('object-del', { id });
}

function socketOf(slot: JsonObject): number {
  return numberAt(objectAt(slot, 'props'), 'socket-id');
}

function refused(message: string): StatusError {
  return new StatusError({ reason: 'BadRequest', message });
}
