import { type Qcow2Header, readQcow2Header } from './qcow2-header.ts';

/** The first bytes of a file that tell its format. */
export const formatBytes = 64 * 1024;

export type ImageFormat = 'qcow2' | 'raw' | 'iso';

const foreign: readonly (readonly [name: string, offset: number, magic: string])[] = [
  ['a VMDK disk', 0, 'KDMV'],
  ['a VMDK disk', 0, '# Disk DescriptorFile'],
  ['a VHDX disk', 0, 'vhdxfile'],
  ['a VHD disk', 0, 'conectix'],
  ['a QED disk', 0, 'QED\0'],
  ['a Parallels disk', 0, 'WithoutFreeSpace'],
  ['a VDI disk', 64, '\x7f\x10\xda\xbe'],
  ['an encrypted LUKS disk', 0, 'LUKS\xba\xbe'],
  ['a zip archive', 0, 'PK\x03\x04'],
  ['a zstd archive', 0, '\x28\xb5\x2f\xfd'],
  ['a bzip2 archive', 0, 'BZh'],
  ['a 7z archive', 0, '7z\xbc\xaf\x27\x1c'],
  ['a tar archive', 257, 'ustar'],
];

export type Packing = 'gz' | 'xz';

/** How the bytes are packed, by what they begin with. */
export function packingOf(start: Buffer): Packing | undefined {
  if (hasAt(start, 0, '\x1f\x8b')) return 'gz';
  return hasAt(start, 0, '\xfd7zXZ\0') ? 'xz' : undefined;
}

/**
 * What an unpacked file is, from its first bytes and its length; never a guess of a program that would follow what it says.
 * @throws Error when it is nothing that a machine can boot or read, or names other files; the message says how to mend it
 */
export function imageFormatOf(start: Buffer, bytes: number): ImageFormat {
  const header = readQcow2Header(start);
  if (header) return checkedQcow2(header);
  if (hasAt(start, 0x8001, 'CD001')) return 'iso';
  const other = foreign.find(([, offset, magic]) => hasAt(start, offset, magic));
  if (other) throw new Error(`it is ${other[0]}; ${convert}`);
  if (packingOf(start)) throw new Error('it is packed twice; unpack it once');
  if (bytes === 0) throw new Error('it is empty; look at what the source sends');
  if (bytes % 512 !== 0)
    throw new Error(
      'it is no disk: neither qcow2 nor ISO, and no whole number of sectors; look at what the source sends',
    );
  return 'raw';
}

const convert = 'convert it with "qemu-img convert -O qcow2"';

function checkedQcow2(header: Qcow2Header): 'qcow2' {
  const { backingFile, hasDataFile, isEncrypted, isCorrupt, hasUnknownFeatures } = header;
  if (backingFile !== undefined) throw new Error(`it needs another file (its backing file); ${convert}`);
  if (hasDataFile) throw new Error(`it keeps its data in another file; ${convert}`);
  if (isEncrypted) throw new Error(`it is encrypted; ${convert}`);
  if (isCorrupt) throw new Error('it is marked as corrupt; repair it with "qemu-img check -r all"');
  if (hasUnknownFeatures) throw new Error(`it uses features of qcow2 that are not known here; ${convert}`);
  return 'qcow2';
}

function hasAt(start: Buffer, offset: number, magic: string): boolean {
  return start.subarray(offset, offset + magic.length).equals(Buffer.from(magic, 'latin1'));
}
