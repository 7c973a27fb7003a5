import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import {
  type DiskSpec,
  type InstanceSpec,
  type InterfaceSpec,
  isHotpluggable,
  type VolumeSpec,
} from './instance-spec.ts';
import { type LiveAbilities, planSize, type TemplateChange } from './live-size.ts';

export interface LiveUpdate {
  /** The fields that take effect only with the next start. */
  readonly restartFields: readonly string[];
  /** The instance with everything that can take effect now. */
  readonly spec: InstanceSpec;
}

/** Divides the changes of a template into those that take effect at once and those that need a restart. */
export function planLiveUpdate(change: TemplateChange, abilities: LiveAbilities): LiveUpdate {
  const size = planSize(change, abilities);
  const { started, wanted, instance } = change;
  const devices = planDevices(change);
  const spec: InstanceSpec = {
    ...instance,
    nodeSelector: wanted.nodeSelector,
    affinity: wanted.affinity,
    tolerations: wanted.tolerations,
    volumes: listLike(instance.volumes, devices.volumes),
    networks: hasNics(started) || hasNics(wanted) ? (wanted.networks ?? []) : instance.networks,
    domain: {
      ...instance.domain,
      ...size.domain,
      devices: {
        ...instance.domain.devices,
        disks: listLike(instance.domain.devices.disks, devices.disks),
        interfaces: listLike(instance.domain.devices.interfaces, devices.interfaces),
      },
    },
  };
  const rest = differences(withoutLive(started, wanted), withoutLive(wanted, started), 'template.spec');
  const restartFields = [...rest, ...size.restartFields].sort();
  return { restartFields, spec };
}

/** No list and an empty one are the same: that alone is no reason to write. */
function listLike<T>(old: readonly T[] | undefined, next: readonly T[]): readonly T[] | undefined {
  return next.length === 0 ? old && next : next;
}

interface Devices {
  readonly volumes: readonly VolumeSpec[];
  readonly disks: readonly DiskSpec[];
  readonly interfaces: readonly InterfaceSpec[];
}

/** The instance's own devices, with those that may come and go as the template wants them. */
function planDevices(change: TemplateChange): Devices {
  const { wanted, instance } = change;
  const volumes = instance.volumes ?? [];
  const fixed = volumes.filter((volume) => !isHotpluggable(volume));
  const coming = (wanted.volumes ?? []).filter(isHotpluggable);
  const hotNames = new Set([...coming, ...volumes.filter(isHotpluggable)].map(({ name }) => name));
  const wantedNames = new Set(coming.map(({ name }) => name));
  const disks = instance.domain.devices.disks ?? [];
  // A drive without a medium stays: its disk is in the template although its volume is not.
  const wantedDisks = (wanted.domain.devices.disks ?? []).filter(
    (disk) => wantedNames.has(disk.name) || (disk.cdrom && hotNames.has(disk.name)),
  );
  return {
    volumes: [...fixed, ...coming],
    disks: [...disks.filter((disk) => !hotNames.has(disk.name)), ...wantedDisks],
    interfaces: planInterfaces(change),
  };
}

/**
 * Interfaces come and go by name; those that stay keep the address and model they were started with. One that the instance was
 * given because its template names none stays as well.
 */
function planInterfaces({ started, wanted, instance }: TemplateChange): readonly InterfaceSpec[] {
  const present = instance.domain.devices.interfaces ?? [];
  if (!hasNics(started) && !hasNics(wanted)) return present;
  const next = wanted.domain.devices.interfaces ?? [];
  return next
    .filter(({ state }) => state !== 'absent')
    .map((item) => present.find(({ name }) => name === item.name) ?? item);
}

function hasNics({ domain }: InstanceSpec): boolean {
  return (domain.devices.interfaces ?? []).length > 0;
}

/** A template without what may change while it runs; `other` is the one that it is compared with. */
function withoutLive(spec: InstanceSpec, other: InstanceSpec): JsonObject {
  const { nodeSelector: _n, affinity: _a, tolerations: _t, networks: _w, volumes, domain, ...rest } = spec;
  const hot = new Set((volumes ?? []).filter(isHotpluggable).map(({ name }) => name));
  const { sockets: _s, ...cpu } = domain.cpu ?? {};
  const { guest: _g, ...memory } = domain.memory ?? {};
  const { uuid: _u, ...firmware } = domain.firmware ?? {};
  const volumeNames = new Set((volumes ?? []).map(({ name }) => name));
  const isFixed = ({ name, cdrom }: DiskSpec): boolean =>
    !hot.has(name) && !(cdrom && !volumeNames.has(name));
  return {
    ...rest,
    volumes: (volumes ?? []).filter((volume) => !isHotpluggable(volume)),
    domain: {
      ...domain,
      cpu,
      memory,
      firmware,
      devices: {
        ...domain.devices,
        disks: (domain.devices.disks ?? []).filter(isFixed),
        interfaces: interfacesInBoth(spec, other),
      },
    },
  } as unknown as JsonObject;
}

function interfacesInBoth(spec: InstanceSpec, other: InstanceSpec): readonly InterfaceSpec[] {
  const isIn = (each: InstanceSpec, name: string): boolean =>
    each.domain.devices.interfaces?.some((item) => item.name === name && item.state !== 'absent') === true;
  const all = spec.domain.devices.interfaces ?? [];
  return all.filter(({ name }) => isIn(spec, name) && isIn(other, name));
}

/** The paths at which two values differ: as deep as both are objects. */
function differences(a: JsonValue | undefined, b: JsonValue | undefined, path: string): readonly string[] {
  if (jsonEqual(a, b)) return [];
  if (!isJsonObject(a) || !isJsonObject(b)) return [path];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].flatMap((name) => differences(a[name], b[name], `${path}.${name}`));
}
