import { constants } from 'node:fs';
import { access, mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StatusError } from '@sheaf/base';
import type { Capability, PodVolumeCapabilities } from '@sheaf/ports';
import { available, missing } from '../qemu/capabilities.ts';
import { findProgram } from '../qemu/run-program.ts';
import { exporter } from './disk-export.ts';
import { runTool, wayToGet } from './host-tools.ts';
import { mount, unmountAnyway } from './mount-table.ts';

const diskPrograms = [
  exporter,
  'losetup',
  'blkid',
  'blockdev',
  'mkfs.ext4',
  'e2fsck',
  'resize2fs',
  'dumpe2fs',
];

/** Finds out what this host can do for volumes of pods. */
export async function probeVolumes(root: string): Promise<PodVolumeCapabilities> {
  const memory = await memoryCapability(join(root, 'probe'));
  return {
    directories: available('directories and files are made on disk'),
    memory,
    disks: memory.isAvailable ? await diskCapability() : memory,
  };
}

async function memoryCapability(place: string): Promise<Capability> {
  if (process.getuid?.() !== 0) return missing('only root may mount', 'run Sheaf as root');
  const absent = ['mount', 'umount'].filter((program) => findProgram(program) === undefined);
  if (absent.length > 0) return notInstalled(absent);
  try {
    await tryMount(place);
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    return missing(error.message, 'run Sheaf outside of a container, or in a privileged one');
  }
  return available('file systems can be mounted');
}

/** A crash may have left one. */
async function tryMount(place: string): Promise<void> {
  await unmountAnyway(place);
  await mkdir(place, { recursive: true, mode: 0o700 });
  await mount('-t', 'tmpfs', '-o', 'size=4096', 'tmpfs', place);
  await unmountAnyway(place);
  await rmdir(place);
}

async function diskCapability(): Promise<Capability> {
  const absent = diskPrograms.filter((program) => findProgram(program) === undefined);
  if (absent.length > 0) return notInstalled(absent);
  for (const [device, module] of [
    ['/dev/fuse', 'fuse'],
    ['/dev/loop-control', 'loop'],
  ] as const)
    if (!(await isUsable(device)))
      return missing(
        `${device} cannot be opened`,
        `modprobe ${module}, or give the device to the container that Sheaf runs in`,
      );
  if (!(await runTool(exporter, '--help')).includes('fuse'))
    return missing(`${exporter} was built without FUSE`, 'install one with FUSE, as Debian has it');
  return available(`${exporter} and loop devices`);
}

function notInstalled(programs: readonly string[]): Capability {
  return missing(
    `${programs.join(', ')} ${programs.length === 1 ? 'is' : 'are'} not installed`,
    wayToGet(programs),
  );
}

async function isUsable(device: string): Promise<boolean> {
  return await access(device, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}
