import { StatusError } from '@sheaf/base';
import type { MachineNic } from '@sheaf/ports';
import { netdev, nicDevice } from './command-line/devices.ts';
import { askToLeave, type ChangedMachine, freePort, isAttached, isPresent } from './device-changes.ts';
import { nicId } from './device-names.ts';
import { QmpError } from './qmp-client.ts';
import { removeNetdev } from './tidy-devices.ts';

/** What the card is plugged into is made first: a bridged card's tap device is there already. */
export async function attachNic(
  machine: ChangedMachine,
  nic: MachineNic,
  podNetwork: () => Promise<string | undefined>,
): Promise<void> {
  const { link, spec } = machine;
  if (!(await isAttached(machine, nicId(nic.name)))) {
    const place = await freePort(machine);
    await ensureNetdev(machine, nic, podNetwork);
    try {
      await link.execute('device_add', nicDevice(nic, spec.machineType, place));
    } catch (error) {
      await removeNetdev(link, nic.name);
      await machine.onNicGone(nic.name);
      throw error;
    }
  }
  await setCarrier(machine, { name: nic.name, carrier: nic.carrier ?? 'up' });
}

export async function detachNic(machine: ChangedMachine, name: string): Promise<void> {
  if (await isPresent(machine.link, nicId(name))) return await askToLeave(machine, nicId(name));
  await removeNetdev(machine.link, name);
  await machine.onNicGone(name);
}

export async function setCarrier(
  { link, spec }: ChangedMachine,
  { name, carrier }: { name: string; carrier: 'up' | 'down' },
): Promise<void> {
  if (!(await isPresent(link, nicId(name))))
    throw new StatusError({
      reason: 'NotFound',
      message: `machine ${spec.id} has no network card ${name}: attach it first`,
    });
  await link.execute('set_link', { name: nicId(name), up: carrier === 'up' });
}

async function ensureNetdev(
  { link, spec }: ChangedMachine,
  nic: MachineNic,
  podNetwork: () => Promise<string | undefined>,
): Promise<void> {
  try {
    await link.execute('netdev_add', netdev(nic, { machineId: spec.id, podSocket: await podNetwork() }));
  } catch (error) {
    // A life before this one ended between the two steps.
    if (!(error instanceof QmpError) || !/[Dd]uplicate ID/.test(error.message)) throw error;
  }
}
