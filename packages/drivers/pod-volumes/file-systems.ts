import { internalError } from '@sheaf/base';
import { runTool, tryTool } from './host-tools.ts';
import { refusals } from './refusals.ts';

export type FileSystem = 'ext4' | 'xfs';

/** How `blkid` says that it has recognized nothing. */
const nothingFound = 2;
/** From here on the numbers of `fsck` mean that errors are left. */
const errorsLeft = 4;

/** A part that is too small to hold what describes it is left out; that is always less. */
const leftOverBlocks = 1024;

export interface FileSystemPlace {
  readonly volumeId: string;
  readonly device: string;
}

/**
 * Makes a file system where there is nothing at all; mends one that was not unmounted, and lets it have all of a device that has
 * grown. Resolves to the one that is there.
 */
export async function prepareFileSystem(place: FileSystemPlace, wanted: FileSystem): Promise<FileSystem> {
  const { device, volumeId } = place;
  const found = await contentOf(device);
  if (found === undefined) {
    await runTool(...makers[wanted], device);
    return wanted;
  }
  if (found === 'xfs') return 'xfs';
  if (!/^ext[234]$/.test(found)) throw refusals.foreignContent(volumeId, found);
  await mend(place, '-p');
  if (await isSmaller(device)) {
    // Growing takes a full check before; while mounted it would take a right that not every root has.
    await mend(place, '-f', '-p');
    await runTool('resize2fs', device);
  }
  return 'ext4';
}

/** The one that can grow only while it is mounted; nothing to do for the others. */
export async function growMounted(type: FileSystem, place: string): Promise<void> {
  if (type === 'xfs') await runTool('xfs_growfs', place);
}

async function mend({ device, volumeId }: FileSystemPlace, ...how: readonly string[]): Promise<void> {
  const { status, output, errors } = await tryTool('e2fsck', ...how, device);
  if (status >= 0 && status < errorsLeft) return;
  const words = `${output.trim()} ${errors.trim()}`.trim();
  throw /is in use|is mounted/.test(words)
    ? refusals.diskBusy(words)
    : refusals.brokenFileSystem(volumeId, words);
}

/** By more than what is left over where the device is no multiple of what it is divided into. */
async function isSmaller(device: string): Promise<boolean> {
  const facts = await runTool('dumpe2fs', '-h', device);
  const fact = (name: string): number => Number(new RegExp(`^${name}: *(\\d+)$`, 'm').exec(facts)?.[1]);
  const deviceBytes = Number(await runTool('blockdev', '--getsize64', device));
  return deviceBytes - fact('Block count') * fact('Block size') > leftOverBlocks * fact('Block size');
}

const makers: Readonly<Record<FileSystem, readonly [string, ...string[]]>> = {
  // Blank already, so there is nothing to discard; nothing is set aside for root, as for disks of pods elsewhere.
  ext4: ['mkfs.ext4', '-q', '-F', '-m', '0', '-E', 'nodiscard'],
  xfs: ['mkfs.xfs', '-q', '-K'],
};

/** A name of what is there, `undefined` for nothing. @throws StatusError where that cannot be told */
async function contentOf(device: string): Promise<string | undefined> {
  const { status, output, errors } = await tryTool('blkid', '--probe', '--output', 'export', device);
  if (status === nothingFound) return undefined;
  if (status !== 0)
    throw internalError(`blkid ${device}: ${errors.trim() || `status ${status}`}; nothing was changed`);
  const type = /^TYPE=(.+)$/m.exec(output)?.[1];
  return type ?? `a partition table (${/^PTTYPE=(.+)$/m.exec(output)?.[1] ?? 'unknown'})`;
}
