import { formatQuantity, type JsonObject, parseQuantity, quantityAsBigInt, quantityOf } from '@sheaf/base';
import { spreadOf, topologyOf } from './cpu-topology.ts';
import { fieldAt, isUnset, setField, textOf } from './fill.ts';

/** Fields of the machine that stand against the type, whatever the type says of them. */
const ownCpuFields = [
  'domain.resources.requests.cpu',
  'domain.resources.limits.cpu',
  'domain.cpu.sockets',
  'domain.cpu.cores',
  'domain.cpu.threads',
];
const ownMemoryFields = [
  'domain.memory.guest',
  'domain.resources.requests.memory',
  'domain.resources.limits.memory',
];

/** What the type sets as it is, where the machine leaves it open. */
const plainFields: readonly (readonly [type: string, machine: string])[] = [
  ['cpu.model', 'domain.cpu.model'],
  ['cpu.dedicatedCPUPlacement', 'domain.cpu.dedicatedCPUPlacement'],
  ['cpu.isolateEmulatorThread', 'domain.cpu.isolateEmulatorThread'],
  ['cpu.numa', 'domain.cpu.numa'],
  ['cpu.realtime', 'domain.cpu.realtime'],
  ['memory.hugepages', 'domain.memory.hugepages'],
  ['memory.maxGuest', 'domain.memory.maxGuest'],
  ['nodeSelector', 'nodeSelector'],
  ['schedulerName', 'schedulerName'],
  ['ioThreads', 'domain.ioThreads'],
  ['ioThreadsPolicy', 'domain.ioThreadsPolicy'],
  ['launchSecurity', 'domain.launchSecurity'],
  ['gpus', 'domain.devices.gpus'],
  ['hostDevices', 'domain.devices.hostDevices'],
];

const hundred = 100;

/** The fields of a machine that do not go together with its type. */
export function conflictsWith(spec: JsonObject, type: JsonObject): readonly string[] {
  const isSet = (path: string): boolean => !isUnset(fieldAt(spec, path));
  const plain = plainFields.filter(([from, to]) => fieldAt(type, from) !== undefined && isSet(to));
  return [...ownCpuFields.filter(isSet), ...ownMemoryFields.filter(isSet), ...plain.map(([, to]) => to)];
}

/** Writes what the type says into a spec that has no conflict with it. */
export function applyInstanceType(
  spec: JsonObject,
  type: JsonObject,
  preference: JsonObject | undefined,
): void {
  for (const [from, to] of plainFields) setField(spec, to, fieldAt(type, from));
  setField(spec, 'domain.cpu.maxSockets', fieldAt(type, 'cpu.maxSockets'));
  const { sockets, cores, threads } = spreadOf(
    Number(fieldAt(type, 'cpu.guest') ?? 1),
    topologyOf(preference),
  );
  setField(spec, 'domain.cpu.sockets', sockets);
  setField(spec, 'domain.cpu.cores', cores);
  setField(spec, 'domain.cpu.threads', threads);
  applyMemory(spec, type);
}

function applyMemory(spec: JsonObject, type: JsonObject): void {
  const guest = fieldAt(type, 'memory.guest');
  setField(spec, 'domain.memory.guest', guest);
  const percent = Number(fieldAt(type, 'memory.overcommitPercent') ?? 0);
  if (percent <= 0 || guest === undefined) return;
  const bytes = Number(quantityAsBigInt(parseQuantity(textOf(guest))));
  const requested = BigInt(Math.floor(bytes * (1 - percent / hundred)));
  setField(spec, 'domain.resources.requests.memory', formatQuantity(quantityOf(requested, 'BinarySI')));
}
