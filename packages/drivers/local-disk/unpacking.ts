import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { toError } from '@sheaf/base';
import { isFull } from './durable-files.ts';
import { SourceFault } from './http-source.ts';
import type { Packing } from './image-format.ts';
import { findProgram, type ProgramRunner } from './program-runner.ts';

/** A stretch of zeros of this length takes no room. */
const holeBytes = 64 * 1024;
/** The largest dictionary that xz offers by its presets is 64 MiB. */
const xzMemoryBytes = 128 * 1024 * 1024;

export interface Unpacking {
  readonly packing: Packing;
  readonly from: string;
  readonly to: string;
  readonly maxBytes: number;
}

/** Unpacks into a sparse file that never has more than `maxBytes`. @throws SourceFault when the bytes are at fault */
export async function unpack(runner: ProgramRunner, work: Unpacking, signal: AbortSignal): Promise<void> {
  const target = await open(work.to, 'wx', 0o600);
  try {
    const write = (chunks: AsyncIterable<Uint8Array>): Promise<void> =>
      writeSparsely(chunks, target, work.maxBytes);
    if (work.packing === 'gz') await unpackGz(work, write, signal);
    else await unpackXz(runner, { work, write }, signal);
    await target.sync();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SourceFault || isFull(error)) throw error;
    throw new SourceFault(`it cannot be unpacked: ${toError(error).message}`, { cause: error });
  } finally {
    await target.close();
  }
}

type Write = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

async function unpackGz({ from }: Unpacking, write: Write, signal: AbortSignal): Promise<void> {
  await pipeline(createReadStream(from), createGunzip(), write, { signal });
}

async function unpackXz(
  runner: ProgramRunner,
  { work, write }: { work: Unpacking; write: Write },
  signal: AbortSignal,
): Promise<void> {
  if (!(await findProgram('xz')))
    throw new SourceFault('xz is not installed; install xz-utils, or give it unpacked');
  const child = runner.start({
    program: 'xz',
    arguments: ['--decompress', '--stdout', '--threads=1', `--memlimit-decompress=${xzMemoryBytes}`],
    limits: { memoryBytes: 4 * xzMemoryBytes, fileBytes: 0 },
  });
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error('xz has no pipes');
  let words = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-1000);
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  // It stops reading when it finds a fault; its own words say which.
  const fed = pipeline(createReadStream(work.from), stdin, { signal }).catch(() => undefined);
  try {
    await pipeline(stdout, write, { signal });
    const code = await closed;
    if (code !== 0) throw new SourceFault(`it cannot be unpacked: ${words.trim() || 'xz was ended'}`);
  } finally {
    child.kill('SIGKILL');
    await fed;
  }
}

/** Writes what comes into an empty file, around its holes. @throws SourceFault beyond `maxBytes` */
export async function writeSparsely(
  chunks: AsyncIterable<Uint8Array>,
  target: FileHandle,
  maxBytes: number,
): Promise<void> {
  let position = 0;
  for await (const chunk of chunks) {
    if (position + chunk.length > maxBytes)
      throw new SourceFault(`unpacked it has more than the ${maxBytes} bytes that are allowed`);
    await writeAroundHoles(target, chunk, position);
    position += chunk.length;
  }
  await target.truncate(position);
}

async function writeAroundHoles(target: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let start = 0; start < chunk.length; start += holeBytes) {
    const piece = chunk.subarray(start, start + holeBytes);
    let written = isZero(piece) ? piece.length : 0;
    while (written < piece.length)
      written += (await target.write(piece, written, piece.length - written, position + start + written))
        .bytesWritten;
  }
}

const zeros = Buffer.alloc(holeBytes);

function isZero(piece: Uint8Array): boolean {
  return zeros.subarray(0, piece.length).equals(piece);
}
