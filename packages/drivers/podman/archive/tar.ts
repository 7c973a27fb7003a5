/** A file, directory or symbolic link of a tar file. */
export interface TarEntry {
  /** Without a leading slash; at most 100 bytes. */
  readonly path: string;
  /** Of a file. */
  readonly content?: Uint8Array;
  /** Of a symbolic link. */
  readonly target?: string;
  /** Permissions; 0755 if absent. */
  readonly mode?: number;
  readonly owner?: number;
  readonly group?: number;
}

const blockBytes = 512;
const longestName = 100;

/** A tar file in the ustar format; the same entries make the same bytes. Neither content nor target: a directory. */
export function tarFile(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = entry.content ?? new Uint8Array();
    return [tarHeader(entry, content.length), content, tarPadding(content.length)];
  });
  return Buffer.concat([...blocks, tarEnd()]);
}

/** What stands behind a content of so many bytes. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** What stands behind the last one. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * blockBytes);
}

/** What stands before a content of so many bytes; the content of the entry says only that it is a file. */
export function tarHeader(entry: TarEntry, bytes: number): Buffer {
  const { path, target = '', mode = 0o755, owner = 0, group = 0 } = entry;
  for (const name of [path, target])
    if (Buffer.byteLength(name) > longestName)
      throw new Error(`${name} is too long for a tar file: at most ${longestName} bytes`);
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(owner, 7), 108);
  block.write(octal(group, 7), 116);
  writeSize(block, bytes);
  block.write(octal(0, 11), 136);
  block.write('        ', 148);
  block.write(kindOf(entry), 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}

/** Eleven octal digits reach to 8 GiB; beyond, a binary number with its first bit set. */
function writeSize(block: Buffer, bytes: number): void {
  if (bytes < 8 ** 11) {
    block.write(octal(bytes, 11), 124);
    return;
  }
  block.writeUInt8(0x80, 124);
  block.writeBigUInt64BE(BigInt(bytes), 128);
}

function kindOf({ content, target }: TarEntry): string {
  if (content) return '0';
  return target === undefined ? '5' : '2';
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}
