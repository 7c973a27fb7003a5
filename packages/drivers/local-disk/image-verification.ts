import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { toError } from '@sheaf/base';
import type { ImageOrder } from '@sheaf/ports';
import type { DiskState } from './disk-state.ts';
import { SourceFault } from './http-source.ts';
import { formatBytes, type ImageFormat, imageFormatOf, packingOf } from './image-format.ts';
import { ProgramFailure } from './program-runner.ts';
import { readQcow2Header } from './qcow2-header.ts';
import { unpack } from './unpacking.ts';

export interface VerifiedImage {
  /** The file that came in, or another that has it unpacked. */
  readonly path: string;
  readonly format: ImageFormat;
  readonly virtualBytes: number;
}

/** Nothing of it is used before this has looked at it. @throws SourceFault when the bytes are at fault */
export async function verifyImage(
  disk: DiskState,
  { order, unpackTo }: { order: ImageOrder; unpackTo: string },
  signal: AbortSignal,
): Promise<VerifiedImage> {
  const { id, maxBytes, sha512 } = order;
  const part = disk.layout.part(id);
  const { size } = await stat(part);
  if (size > maxBytes)
    throw new SourceFault(`it has ${size} bytes, more than the ${maxBytes} that are allowed`);
  await checkSum(part, sha512, signal);
  const packing = packingOf(await readStart(part));
  if (packing) await unpack(disk.runner, { packing, from: part, to: unpackTo, maxBytes }, signal);
  const image = await describe(disk, packing ? unpackTo : part, signal);
  checkSize(image, order);
  return image;
}

function checkSize({ virtualBytes }: VerifiedImage, { maxVirtualBytes = virtualBytes }: ImageOrder): void {
  if (virtualBytes > maxVirtualBytes)
    throw new SourceFault(
      `its disk has ${virtualBytes} bytes, more than the ${maxVirtualBytes} that were asked for; ask for ${virtualBytes} or more`,
    );
}

async function checkSum(path: string, expected: string | undefined, signal: AbortSignal): Promise<void> {
  if (expected === undefined) return;
  const hash = createHash('sha512');
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Uint8Array);
  const found = hash.digest('hex');
  if (found !== expected.toLowerCase())
    throw new SourceFault(
      `its SHA-512 is ${found}, not ${expected}; it was changed on the way, or the checksum is of another file`,
    );
}

async function describe(disk: DiskState, path: string, signal: AbortSignal): Promise<VerifiedImage> {
  const start = await readStart(path);
  const { size } = await stat(path);
  try {
    const format = imageFormatOf(start, size);
    if (format !== 'qcow2') return { path, format, virtualBytes: size };
    await disk.qemuImg.inspect(path, signal);
    return { path, format, virtualBytes: readQcow2Header(start)?.virtualBytes ?? 0 };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProgramFailure && error.exitCode === undefined)
      throw new SourceFault(
        'looking at it takes too much time or memory; convert it with "qemu-img convert -O qcow2"',
      );
    throw new SourceFault(toError(error).message.replaceAll(path, 'it'), { cause: error });
  }
}

async function readStart(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(formatBytes), 0, formatBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
