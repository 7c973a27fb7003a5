import { type JsonValue, StatusError } from '@sheaf/base';
import type { MachineSpec } from '@sheaf/ports';
import { portId } from './device-names.ts';
import type { FileGuard } from './file-guard.ts';
import { deviceIds, devicesPath } from './machine-facts.ts';
import type { MachineLink } from './machine-link.ts';
import { QmpError } from './qmp-client.ts';
import { type LeavingDevices, tidyDevices } from './tidy-devices.ts';

/** A running machine whose devices are changed. */
export interface ChangedMachine extends LeavingDevices {
  readonly spec: MachineSpec;
  readonly link: MachineLink;
  readonly mayWrite: FileGuard;
}

export async function isPresent(link: MachineLink, device: string): Promise<boolean> {
  return deviceIds(await link.execute('qom-list', { path: devicesPath })).includes(device);
}

/** True when the device is plugged in; when it is not, nothing of an earlier one is left. @throws StatusError while it is leaving */
export async function isAttached(machine: ChangedMachine, device: string): Promise<boolean> {
  const { link, spec } = machine;
  if (!(await isPresent(link, device))) {
    await tidyDevices(machine, link);
    return false;
  }
  if ((await machine.leaving()).includes(device))
    throw new StatusError({
      reason: 'Conflict',
      message: `${device} is leaving machine ${spec.id}: attach it again when it is gone`,
    });
  return true;
}

/** Asks the guest to let go of a device; asked again, it goes on waiting. */
export async function askToLeave(machine: ChangedMachine, device: string): Promise<void> {
  // Before it is asked: the answer may come when nobody listens.
  await machine.setLeaving(device, true);
  try {
    await machine.link.execute('device_del', { id: device });
  } catch (error) {
    if (error instanceof QmpError && /already in the process of unplug/.test(error.message)) return;
    await machine.setLeaving(device, false);
    throw error;
  }
}

/** A PCI port for one more device; where the machine type needs none, there is none to name. */
export async function freePort({ spec, link }: ChangedMachine): Promise<{ bus?: string }> {
  if (spec.machineType === 'pc') return {};
  const ids = deviceIds(await link.execute('qom-list', { path: devicesPath }));
  const taken = new Set<JsonValue>();
  for (const id of ids.filter((name) => /^(disk|nic)-/.test(name)))
    taken.add(await link.execute('qom-get', { path: `${devicesPath}/${id}`, property: 'parent_bus' }));
  for (let index = 0; ids.includes(portId(index)); index++) {
    const bus = portId(index);
    if (!taken.has(`${devicesPath}/${bus}/${bus}`)) return { bus };
  }
  throw new StatusError({
    reason: 'Conflict',
    message: `machine ${spec.id} has no free port for another device on PCI: use the scsi bus, or detach a device`,
  });
}
