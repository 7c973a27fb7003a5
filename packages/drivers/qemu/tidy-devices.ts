import { nameIn, netdevId } from './device-names.ts';
import { ourNodes, removeNodes } from './disk-nodes.ts';
import { deviceIds, devicesPath, topNodes } from './machine-facts.ts';
import type { MachineLink } from './machine-link.ts';
import { QmpError } from './qmp-client.ts';

/** What is known of the devices that are to go. */
export interface LeavingDevices {
  leaving(): Promise<readonly string[]>;
  setLeaving(device: string, isLeaving: boolean): Promise<void>;
  /** A network card is gone, and what it was plugged into. */
  onNicGone(name: string): Promise<void>;
}

/**
 * Removes what stands behind devices that are not there, or not yet: block nodes, which hold the locks of their files, and what a
 * network card was plugged into. The news of a device that went while nobody listened never comes, and a life before this one may
 * have ended between two steps, as between opening a new file for a disk and switching to it; so this looks at what is there.
 */
export async function tidyDevices(machine: LeavingDevices, link: MachineLink): Promise<void> {
  const [listed, nodes, blocks] = await Promise.all([
    link.execute('qom-list', { path: devicesPath }),
    ourNodes(link),
    link.execute('query-block'),
  ]);
  const present = deviceIds(listed);
  const used = topNodes(blocks);
  await removeNodes(
    link,
    nodes.filter((node) => !used.includes(node)),
  );
  for (const device of await machine.leaving()) {
    if (present.includes(device)) continue;
    const nic = nameIn(device, 'nic');
    if (nic !== undefined) {
      await removeNetdev(link, nic);
      await machine.onNicGone(nic);
    }
    await machine.setLeaving(device, false);
  }
}

/** Nothing there: nothing to do. */
export async function removeNetdev(link: MachineLink, nic: string): Promise<void> {
  try {
    await link.execute('netdev_del', { id: netdevId(nic) });
  } catch (error) {
    if (!(error instanceof QmpError) || error.kind !== 'DeviceNotFound') throw error;
  }
}
