import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { fieldAt, fillField, objectsAt, setField } from './fill.ts';

/** What a preference gives where the machine leaves it open. */
const plainFields: readonly (readonly [preference: string, machine: string])[] = [
  ['devices.preferredUseVirtioTransitional', 'domain.devices.useVirtioTransitional'],
  ['devices.preferredBlockMultiQueue', 'domain.devices.blockMultiQueue'],
  ['devices.preferredNetworkInterfaceMultiQueue', 'domain.devices.networkInterfaceMultiqueue'],
  ['devices.preferredDisableHotplug', 'domain.devices.disableHotplug'],
  ['devices.preferredRng', 'domain.devices.rng'],
  ['devices.preferredTPM', 'domain.devices.tpm'],
  ['devices.preferredAutoattachGraphicsDevice', 'domain.devices.autoattachGraphicsDevice'],
  ['devices.preferredAutoattachMemBalloon', 'domain.devices.autoattachMemBalloon'],
  ['devices.preferredAutoattachPodInterface', 'domain.devices.autoattachPodInterface'],
  ['devices.preferredAutoattachSerialConsole', 'domain.devices.autoattachSerialConsole'],
  ['devices.preferredAutoattachInputDevice', 'domain.devices.autoattachInputDevice'],
  ['features.preferredAcpi', 'domain.features.acpi'],
  ['features.preferredApic', 'domain.features.apic'],
  ['features.preferredKvm', 'domain.features.kvm'],
  ['features.preferredPvspinlock', 'domain.features.pvspinlock'],
  ['features.preferredSmm', 'domain.features.smm'],
  ['clock.preferredTimer', 'domain.clock.timer'],
  ['machine.preferredMachineType', 'domain.machine.type'],
  ['preferredSubdomain', 'subdomain'],
  ['preferredTerminationGracePeriodSeconds', 'terminationGracePeriodSeconds'],
  ['preferredArchitecture', 'architecture'],
];

/** Likewise for each disk, by what it is. */
const diskFields: readonly (readonly [preference: string, disk: string])[] = [
  ['devices.preferredDiskBus', 'disk.bus'],
  ['devices.preferredDiskBlockSize', 'blockSize'],
  ['devices.preferredDiskCache', 'cache'],
  ['devices.preferredDiskIO', 'io'],
];

/** Writes a preference into a spec; what its user has set stays. */
export function applyPreference(spec: JsonObject, preference: JsonObject): void {
  for (const [from, to] of plainFields) fillField(spec, to, fieldAt(preference, from));
  const hyperv = fieldAt(preference, 'features.preferredHyperv');
  for (const [name, value] of Object.entries(isJsonObject(hyperv) ? hyperv : {}))
    fillField(spec, `domain.features.hyperv.${name}`, value);
  applyCpuFeatures(spec, preference);
  applyClock(spec, preference);
  applyFirmware(spec, preference);
  for (const disk of objectsAt(spec, 'domain.devices.disks')) applyToDisk(disk, preference);
  for (const each of objectsAt(spec, 'domain.devices.interfaces')) applyToInterface(each, spec, preference);
  for (const input of objectsAt(spec, 'domain.devices.inputs')) {
    fillField(input, 'bus', fieldAt(preference, 'devices.preferredInputBus'));
    fillField(input, 'type', fieldAt(preference, 'devices.preferredInputType'));
  }
}

function applyCpuFeatures(spec: JsonObject, preference: JsonObject): void {
  const own = objectsAt(spec, 'domain.cpu.features');
  const names = new Set(own.map(({ name }) => name));
  const wanted = objectsAt(preference, 'cpu.preferredCPUFeatures').filter(({ name }) => !names.has(name));
  if (wanted.length > 0) setField(spec, 'domain.cpu.features', [...own, ...wanted]);
}

/** Half of it is not mixed with a half of the machine's. */
function applyClock(spec: JsonObject, preference: JsonObject): void {
  const offset = fieldAt(preference, 'clock.preferredClockOffset');
  const isOpen = ['utc', 'timezone'].every((name) => fieldAt(spec, `domain.clock.${name}`) === undefined);
  if (!isOpen || !isJsonObject(offset)) return;
  for (const [name, value] of Object.entries(offset)) setField(spec, `domain.clock.${name}`, value);
}

const loader = 'domain.firmware.bootloader';

function applyFirmware(spec: JsonObject, preference: JsonObject): void {
  const wanted = (name: string): JsonValue | undefined => fieldAt(preference, `firmware.${name}`);
  const has = (name: string): boolean => fieldAt(spec, `${loader}.${name}`) !== undefined;
  const isOpen = !has('bios') && !has('efi');
  if (isOpen) setField(spec, loader, preferredLoader(wanted));
  if (has('bios')) fillField(spec, `${loader}.bios.useSerial`, wanted('preferredUseBiosSerial'));
  // A preferred EFI says all by itself.
  if (isOpen && wanted('preferredEfi') !== undefined) return;
  if (has('efi')) fillField(spec, `${loader}.efi.secureBoot`, wanted('preferredUseSecureBoot'));
}

function preferredLoader(wanted: (name: string) => JsonValue | undefined): JsonObject | undefined {
  if (wanted('preferredUseBios') === true) return { bios: {} };
  const efi = wanted('preferredEfi');
  if (efi !== undefined) return { efi };
  return wanted('preferredUseEfi') === true ? { efi: {} } : undefined;
}

function applyToDisk(disk: JsonObject, preference: JsonObject): void {
  if (disk['cdrom'] !== undefined) {
    fillField(disk, 'cdrom.bus', fieldAt(preference, 'devices.preferredCdromBus'));
  } else if (disk['lun'] !== undefined) {
    fillField(disk, 'lun.bus', fieldAt(preference, 'devices.preferredLunBus'));
  } else {
    fillField(disk, 'disk', {});
    for (const [from, to] of diskFields) fillField(disk, to, fieldAt(preference, from));
    if (fieldAt(disk, 'disk.bus') === 'virtio')
      fillField(disk, 'dedicatedIOThread', fieldAt(preference, 'devices.preferredDiskDedicatedIoThread'));
  }
}

const bindings = ['masquerade', 'bridge', 'sriov', 'binding', 'passt', 'slirp', 'macvtap', 'passtBinding'];

function applyToInterface(each: JsonObject, spec: JsonObject, preference: JsonObject): void {
  fillField(each, 'model', fieldAt(preference, 'devices.preferredInterfaceModel'));
  const network = objectsAt(spec, 'networks').find(({ name }) => name === each['name']);
  const isOpen = bindings.every((name) => each[name] === undefined);
  if (isOpen && network?.['pod'] !== undefined)
    fillField(each, 'masquerade', fieldAt(preference, 'devices.preferredInterfaceMasquerade'));
}
