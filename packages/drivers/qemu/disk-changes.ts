import { type JsonObject, type JsonValue, StatusError } from '@sheaf/base';
import type { DiskFile, DiskLimits, MachineDisk } from '@sheaf/ports';
import { blockNode, diskDevice, isVirtioDisk } from './command-line/devices.ts';
import { askToLeave, type ChangedMachine, freePort, isAttached, isPresent } from './device-changes.ts';
import { diskId, diskNode, diskNodePrefix } from './device-names.ts';
import { ensureNode, removeDiskNodes, removeNodes } from './disk-nodes.ts';
import { confirmFile } from './file-guard.ts';
import { tellingHolder } from './lock-refusal.ts';
import { driveOf, numberAt, pathIn } from './machine-facts.ts';
import type { MachineLink } from './machine-link.ts';
import { objectAt, QmpSilence, textAt } from './qmp-client.ts';

/** Its file is open, with its lock, before the guest sees the disk: in between it is asked whether it may be written to. */
export async function attachDisk(machine: ChangedMachine, disk: MachineDisk): Promise<void> {
  const { link, spec } = machine;
  if (!(await isAttached(machine, diskId(disk.name)))) {
    const place = await placeOf(machine, disk);
    await tellingHolder(disk.file?.path, async () => {
      if (disk.file) await ensureNode(link, blockNode(disk, disk.file));
      try {
        await confirmFile(machine, disk);
        await link.execute('device_add', diskDevice(disk, spec.machineType, place));
      } catch (error) {
        await removeDiskNodes(link, diskNodePrefix(disk.name));
        throw error;
      }
    });
  }
  if (disk.limits) await limitDrive(link, disk.name, disk.limits);
}

export async function detachDisk(machine: ChangedMachine, name: string): Promise<void> {
  if (await isPresent(machine.link, diskId(name))) await askToLeave(machine, diskId(name));
  else await removeDiskNodes(machine.link, diskNodePrefix(name));
}

/** Takes the medium out of a CD-ROM drive, and puts another one in. */
export async function changeMedium(
  { link }: ChangedMachine,
  { name, file }: { name: string; file: DiskFile | undefined },
): Promise<void> {
  const drive = await getDrive(link, name);
  const id = diskId(name);
  if (pathIn(drive) === file?.path) {
    // A life before this one may have ended with the tray open.
    if (drive['tray_open'] === true) await link.execute('blockdev-close-tray', { id });
    return;
  }
  await link.execute('blockdev-open-tray', { id, force: true });
  if (drive['inserted'] !== undefined) await link.execute('blockdev-remove-medium', { id });
  await removeDiskNodes(link, diskNodePrefix(name));
  if (file)
    await tellingHolder(file.path, async () => {
      await ensureNode(link, blockNode({ name, device: 'cdrom', bus: 'scsi' }, file));
      await link.execute('blockdev-insert-medium', { id, 'node-name': diskNode(name, file.path) });
    });
  await link.execute('blockdev-close-tray', { id });
}

export async function resizeDisk(
  { link }: ChangedMachine,
  { name, bytes }: { name: string; bytes: number },
): Promise<void> {
  const inserted = objectAt(await getDrive(link, name), 'inserted');
  if (numberAt(objectAt(inserted, 'image'), 'virtual-size') >= bytes) return;
  await link.execute('block_resize', { 'node-name': topNode(inserted), size: bytes });
}

/** Sets the limits of a drive; what is not named is not limited. */
export async function limitDrive(link: MachineLink, name: string, limits: DiskLimits): Promise<void> {
  const drive = await getDrive(link, name);
  await link.execute('block_set_io_throttle', {
    id: textAt(drive, 'qdev') ?? diskId(name),
    bps: limits.bytesPerSecond ?? 0,
    bps_rd: 0,
    bps_wr: 0,
    iops: limits.operationsPerSecond ?? 0,
    iops_rd: 0,
    iops_wr: 0,
  });
}

/**
 * All or none: one transaction of the program. Disks that were switched before are left alone. What was opened for a switch that is
 * refused is closed again, so that a file which is open in vain is not taken for one that the machine writes to.
 */
export async function switchDisks(
  machine: Pick<ChangedMachine, 'link' | 'spec' | 'mayWrite'>,
  disks: readonly { readonly name: string; readonly overlay: DiskFile }[],
): Promise<void> {
  const { link, spec } = machine;
  const opened: string[] = [];
  const actions: JsonValue[] = [];
  try {
    for (const { name, overlay } of disks) {
      const drive = await getDrive(link, name);
      if (pathIn(drive) === overlay.path) continue;
      const inserted = objectAt(drive, 'inserted');
      const disk = spec.disks.find((item) => item.name === name) ?? hotPlugged(name, inserted);
      const overlayNode = diskNode(name, overlay.path);
      // The chain below is open already; it is put beneath by the switch.
      await tellingHolder(overlay.path, () =>
        ensureNode(link, { ...blockNode(disk, overlay), backing: null }),
      );
      opened.push(overlayNode);
      await confirmFile(machine, { ...disk, file: overlay });
      actions.push({ type: 'blockdev-snapshot', data: { node: topNode(inserted), overlay: overlayNode } });
    }
    if (actions.length > 0) await link.execute('transaction', { actions });
  } catch (error) {
    // One that does not answer is tidied when it does.
    if (!(error instanceof QmpSilence)) await removeNodes(link, opened);
    throw error;
  }
}

/** As far as the program tells; its device stays as it is. */
function hotPlugged(name: string, inserted: JsonObject): MachineDisk {
  const isDirect = objectAt(inserted, 'cache')['direct'] === true;
  return { name, device: 'disk', bus: 'scsi', cache: isDirect ? 'none' : 'writeback' };
}

async function placeOf(machine: ChangedMachine, disk: MachineDisk): Promise<{ bus?: string }> {
  if (isVirtioDisk(disk)) return await freePort(machine);
  if (disk.bus === 'sata')
    throw new StatusError({
      reason: 'BadRequest',
      message: `disk ${disk.name} is on the sata bus, which takes no disks while the machine runs: use scsi or virtio, or attach it at the next start`,
    });
  return { bus: disk.bus === 'usb' && disk.device === 'disk' ? 'usb.0' : 'scsi.0' };
}

async function getDrive(link: MachineLink, name: string): Promise<JsonObject> {
  const drive = driveOf(await link.execute('query-block'), name);
  if (!drive)
    throw new StatusError({
      reason: 'NotFound',
      message: `the machine has no disk ${name}: attach it first`,
    });
  return drive;
}

function topNode(inserted: JsonObject): string {
  return textAt(inserted, 'node-name') ?? '';
}
