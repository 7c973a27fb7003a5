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
    const padding = (blockBytes - (content.length % blockBytes)) % blockBytes;
    return [header(entry), content, Buffer.alloc(padding)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

function header(entry: TarEntry): Buffer {
  const { path, target = '', mode = 0o755, owner = 0, group = 0 } = entry;
  for (const name of [path, target])
    if (Buffer.byteLength(name) > longestName)
      throw new Error(`${name} is too long for a tar file: at most ${longestName} bytes`);
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(owner, 7), 108);
  block.write(octal(group, 7), 116);
  block.write(octal(entry.content?.length ?? 0, 11), 124);
  block.write(octal(0, 11), 136);
  block.write('        ', 148);
  block.write(kindOf(entry), 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}

function kindOf({ content, target }: TarEntry): string {
  if (content) return '0';
  return target === undefined ? '5' : '2';
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}
