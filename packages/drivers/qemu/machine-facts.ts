import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { AttachedDevice, ForwardedPort } from '@sheaf/ports';
import { diskId, nameIn, netdevId } from './device-names.ts';
import { objectAt, objectsIn, type QmpClient, textAt } from './qmp-client.ts';

/** What a machine's process says about itself. */
export interface MachineFacts {
  /** The program's own word, such as `running` or `shutdown`. */
  readonly status: string;
  readonly devices: readonly Omit<AttachedDevice, 'isLeaving'>[];
  readonly forwards: readonly ForwardedPort[];
  readonly sockets: number;
  readonly memoryBytes: number;
  readonly isAgentConnected: boolean;
}

export const devicesPath = '/machine/peripheral';

/** All questions are asked at once; the answers come in turn. */
export async function readFacts(qmp: QmpClient): Promise<MachineFacts> {
  const [status, devices, blocks, processors, memory, channels, network] = await Promise.all([
    qmp.execute('query-status'),
    qmp.execute('qom-list', { path: devicesPath }),
    qmp.execute('query-block'),
    qmp.execute('query-hotpluggable-cpus').catch(() => null),
    qmp.execute('query-memory-size-summary'),
    qmp.execute('query-chardev'),
    qmp.execute('human-monitor-command', { 'command-line': 'info usernet' }),
  ]);
  const ids = deviceIds(devices);
  return {
    status: textAt(status, 'status') ?? 'unknown',
    devices: ids.flatMap((id) => attachedDevice(id, blocks)),
    forwards: typeof network === 'string' ? parseForwards(network) : [],
    sockets: pluggedSockets(processors),
    memoryBytes: numberAt(memory, 'base-memory') + numberAt(memory, 'plugged-memory'),
    isAgentConnected: objectsIn(channels).some(
      (channel) => channel['label'] === 'agent' && channel['frontend-open'] === true,
    ),
  };
}

/** The ids in an answer to `qom-list` of the devices. */
export function deviceIds(list: JsonValue): string[] {
  return objectsIn(list)
    .filter((item) => textAt(item, 'type')?.startsWith('child<'))
    .map((item) => textAt(item, 'name') ?? '');
}

/** The drive behind a disk's device in an answer to `query-block`. */
export function driveOf(blocks: JsonValue, disk: string): JsonObject | undefined {
  const id = diskId(disk);
  return objectsIn(blocks).find(({ qdev }) => qdev === id || isPartOf(id, qdev));
}

/** On virtio and USB the drive is that of a part of the device. */
function isPartOf(id: string, qdev: JsonValue | undefined): boolean {
  return typeof qdev === 'string' && qdev.startsWith(`/machine/peripheral/${id}/`);
}

/** The nodes that devices write to, in an answer to `query-block`; what lies beneath them is used by them. */
export function topNodes(blocks: JsonValue): string[] {
  return objectsIn(blocks).flatMap((drive) => textAt(objectAt(drive, 'inserted'), 'node-name') ?? []);
}

/** The file in a drive; `undefined` where there is none. */
export function pathIn(drive: JsonObject | undefined): string | undefined {
  const name = textAt(objectAt(objectAt(drive, 'inserted'), 'image'), 'filename');
  return name?.startsWith(described) ? fileOf(name.slice(described.length)) : name;
}

/** Where the layers are not those that the file itself names, the program describes all of them instead of giving the path. */
const described = 'json:';

function fileOf(description: string): string | undefined {
  try {
    const node: unknown = JSON.parse(description);
    return isJsonObject(node) ? textAt(objectAt(node, 'file'), 'filename') : undefined;
  } catch {
    return undefined;
  }
}

/** The network cards on the pod network, as `info usernet` tells. */
export function parsePodNics(text: string): string[] {
  return text.split('\n').flatMap((line) => nicOfHub(line) ?? []);
}

/** The lines of `info usernet` that are forwards: protocol, state, descriptor, address and port on the host, in the guest. */
export function parseForwards(text: string): ForwardedPort[] {
  const forwards: ForwardedPort[] = [];
  let nic: string | undefined;
  for (const line of text.split('\n')) {
    nic = nicOfHub(line) ?? nic;
    const [, protocol, hostPort, guestPort] =
      /^\s*(TCP|UDP)\[HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)\s+\S+\s+(\d+)/.exec(line) ?? [];
    if (nic === undefined || !hostPort || !guestPort) continue;
    forwards.push({
      nic,
      protocol: protocol === 'TCP' ? 'tcp' : 'udp',
      guestPort: Number(guestPort),
      hostPort: Number(hostPort),
    });
  }
  return forwards.sort((a, b) => a.guestPort - b.guestPort || a.protocol.localeCompare(b.protocol));
}

/** The card in a heading such as `Hub -1 (net-pod):`. */
function nicOfHub(line: string): string | undefined {
  const netdev = /\((\S+)\):\s*$/.exec(line)?.[1];
  const prefix = netdevId('');
  return netdev?.startsWith(prefix) ? netdev.slice(prefix.length) : undefined;
}

function attachedDevice(id: string, blocks: JsonValue): Omit<AttachedDevice, 'isLeaving'>[] {
  const nic = nameIn(id, 'nic');
  if (nic !== undefined) return [{ name: nic, kind: 'nic' }];
  const disk = nameIn(id, 'disk');
  if (disk === undefined) return [];
  const path = pathIn(driveOf(blocks, disk));
  return [{ name: disk, kind: 'disk', ...(path !== undefined && { path }) }];
}

/** Sockets all of whose processors are there. */
function pluggedSockets(processors: JsonValue): number {
  const sockets = new Map<number, boolean>();
  for (const slot of objectsIn(processors)) {
    const socket = numberAt(objectAt(slot, 'props'), 'socket-id');
    const isPlugged = slot['qom-path'] !== undefined;
    sockets.set(socket, isPlugged && (sockets.get(socket) ?? true));
  }
  return [...sockets.values()].filter(Boolean).length;
}

export function numberAt(value: JsonValue | undefined, name: string): number {
  const field = isJsonObject(value) ? value[name] : undefined;
  return typeof field === 'number' ? field : 0;
}
