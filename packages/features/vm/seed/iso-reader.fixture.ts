/** Reads an image the way a kernel does: by its Joliet tree. */
export function readImage(image: Uint8Array): {
  readonly label: string;
  readonly files: Record<string, string>;
} {
  const buffer = Buffer.from(image);
  const descriptor = buffer.subarray(17 * 2048, 18 * 2048);
  if (descriptor.toString('latin1', 1, 6) !== 'CD001' || descriptor.toString('latin1', 88, 91) !== '%/E')
    throw new Error('no Joliet descriptor');
  const files: Record<string, string> = {};
  readDirectory(descriptor.readUInt32LE(158), descriptor.readUInt32LE(166), '');
  return { label: narrow(descriptor.subarray(40, 72)).replace(/\0+$/, ''), files };

  function readDirectory(sector: number, bytes: number, path: string): void {
    const start = sector * 2048;
    for (let at = start; at < start + bytes; ) {
      const length = buffer[at] ?? 0;
      if (length === 0) at = (Math.floor(at / 2048) + 1) * 2048;
      else readRecord(buffer.subarray(at, at + length), path);
      at += length;
    }
  }

  function readRecord(record: Buffer, path: string): void {
    const nameBytes = record.subarray(33, 33 + (record[32] ?? 0));
    if (nameBytes.length === 1) return;
    const sector = record.readUInt32LE(2);
    const bytes = record.readUInt32LE(10);
    const name = path + narrow(nameBytes);
    if (record[25] === 2) readDirectory(sector, bytes, `${name}/`);
    else files[name] = buffer.toString('utf8', sector * 2048, sector * 2048 + bytes);
  }
}

function narrow(bytes: Buffer): string {
  return Buffer.from(bytes).swap16().toString('utf16le');
}
