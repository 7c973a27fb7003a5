/** The first bytes of a file that are enough for `readQcow2Header`, where QEMU has written it. */
export const headerBytes = 4096;

const magic = 0x514649fb;
const dirty = 1n;
const corrupt = 2n;
const externalData = 4n;
const compressionType = 8n;
const wideEntries = 16n;
const known = dirty | corrupt | externalData | compressionType | wideEntries;
const externalDataName = 0x44415441;
/** QEMU's own limit on the first-level table. */
const largestTableBytes = 32 * 1024 * 1024;

export interface Qcow2Header {
  readonly virtualBytes: number;
  readonly backingFile?: string;
  readonly isEncrypted: boolean;
  /** Its data are in another file, or it names one. */
  readonly hasDataFile: boolean;
  readonly isCorrupt: boolean;
  readonly hasUnknownFeatures: boolean;
  readonly tableOffset: number;
  readonly tableBytes: number;
}

/**
 * Reads the header without following anything it names. `undefined`: it is no qcow2.
 * @throws Error when it is one, but says what cannot be
 */
export function readQcow2Header(start: Buffer): Qcow2Header | undefined {
  if (start.length < 72 || start.readUInt32BE(0) !== magic) return undefined;
  const version = readVersion(start);
  const features = version === 3 ? start.readBigUInt64BE(72) : 0n;
  const backingFile = readBackingFile(start);
  return {
    virtualBytes: readSize(start, 24),
    ...(backingFile === undefined ? {} : { backingFile }),
    isEncrypted: start.readUInt32BE(32) !== 0,
    hasDataFile: (features & externalData) !== 0n || namesDataFile(start, version),
    isCorrupt: (features & corrupt) !== 0n,
    hasUnknownFeatures: (features & ~known) !== 0n,
    tableOffset: readSize(start, 40),
    tableBytes: readTableBytes(start),
  };
}

function readVersion(start: Buffer): 2 | 3 {
  const version = start.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw new Error(`qcow2 version ${version} is not known`);
  if (version === 3 && start.length < 104) throw new Error('the qcow2 header is cut off');
  return version;
}

function readTableBytes(start: Buffer): number {
  const clusterBits = start.readUInt32BE(20);
  if (clusterBits < 9 || clusterBits > 21) throw new Error(`a qcow2 cluster of 2^${clusterBits} bytes`);
  const bytes = start.readUInt32BE(36) * 8;
  if (bytes > largestTableBytes) throw new Error('the qcow2 table is too large');
  return bytes;
}

function readSize(start: Buffer, offset: number): number {
  const value = start.readBigUInt64BE(offset);
  if (value > BigInt(Number.MAX_SAFE_INTEGER))
    throw new Error('the qcow2 header names a size beyond all disks');
  return Number(value);
}

function readBackingFile(start: Buffer): string | undefined {
  const offset = readSize(start, 8);
  const length = start.readUInt32BE(16);
  if (offset === 0) return undefined;
  if (length > 1023 || offset + length > start.length)
    throw new Error('the qcow2 header names a backing file outside of itself');
  return start.toString('utf8', offset, offset + length);
}

function namesDataFile(start: Buffer, version: number): boolean {
  let offset = version === 3 ? start.readUInt32BE(100) : 72;
  while (offset + 8 <= start.length) {
    const type = start.readUInt32BE(offset);
    if (type === 0) return false;
    if (type === externalDataName) return true;
    offset += 8 + Math.ceil(start.readUInt32BE(offset + 4) / 8) * 8;
  }
  return false;
}
