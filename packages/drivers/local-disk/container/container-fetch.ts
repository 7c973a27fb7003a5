import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { RegistryAccess } from '@sheaf/ports';
import type { DiskState } from '../disk-state.ts';
import { SourceFault } from '../http-source.ts';
import type { SpaceLedger } from '../space-ledger.ts';
import { writeSparsely } from '../unpacking.ts';
import { DiskFinder } from './disk-finder.ts';
import { type Layer, readManifest } from './image-manifest.ts';
import { type ImageReference, sourceOf } from './image-reference.ts';
import type { Skopeo } from './skopeo.ts';

/** What one name stands for now. */
export interface ResolvedImage {
  /** Of the image itself, for this machine. */
  readonly digest: string;
  readonly layers: readonly Layer[];
}

export interface FetchParts {
  readonly disk: DiskState;
  readonly ledger: SpaceLedger;
  readonly skopeo: Skopeo;
  /** No disk may have more. */
  readonly maxBytes: number;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Brings the disk out of a container image. */
export class ContainerFetch {
  readonly #parts: FetchParts;

  constructor(parts: FetchParts) {
    this.#parts = parts;
  }

  /** Asks the registry. @throws SourceFault; Error where it may go better next time */
  resolve(reference: ImageReference, access: RegistryAccess, signal: AbortSignal): Promise<ResolvedImage> {
    return this.#inRoom(async (room) => {
      const ask = (one: ImageReference): Promise<string> =>
        this.#parts.skopeo.inspect(sourceOf(one), { access, room }, signal);
      const architecture = architectures[process.arch] ?? process.arch;
      let text = await ask(reference);
      let manifest = readManifest(text, architecture);
      let digest = reference.digest ?? digestOf(text);
      if (manifest.kind === 'elsewhere') {
        ({ digest } = manifest);
        text = await ask({ ...reference, digest });
        manifest = readManifest(text, architecture);
      }
      if (manifest.kind === 'elsewhere') throw new SourceFault('it names images that name others');
      return { digest, layers: manifest.layers };
    });
  }

  /** The disk as a file of its own at `to`. */
  async fetch({ repository, image, path, access, to }: DiskOrder, signal: AbortSignal): Promise<void> {
    const { ledger, skopeo, maxBytes } = this.#parts;
    const total = image.layers.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > maxBytes)
      throw new SourceFault(`it has ${total} bytes, more than the ${maxBytes} that are allowed`);
    const held = await ledger.hold(`container image ${repository}`, {
      promisedBytes: 2 * total,
      takenBytes: 2 * total,
    });
    try {
      await this.#inRoom(async (room) => {
        const layers = join(room, 'layers');
        const source = sourceOf({ repository, tag: undefined, digest: image.digest });
        const mostBytes = Math.max(...image.layers.map(({ bytes }) => bytes), smallFiles);
        await skopeo.copy(source, { access, room, to: layers, mostBytes }, signal);
        const finder = new DiskFinder(path, (content, bytes) => this.#write(to, { content, bytes }));
        for (const { digest } of image.layers.toReversed())
          await finder.addLayer(this.#unpacked(join(layers, digest.slice('sha256:'.length)), signal));
        return finder.found;
      });
    } finally {
      held.dispose();
    }
  }

  async #write(
    to: string,
    { content, bytes }: { readonly content: AsyncIterable<Uint8Array>; readonly bytes: number },
  ): Promise<void> {
    const { maxBytes } = this.#parts;
    if (bytes > maxBytes)
      throw new SourceFault(`its disk has ${bytes} bytes, more than the ${maxBytes} that are allowed`);
    const target = await open(to, 'wx', 0o600);
    try {
      await writeSparsely(content, target, maxBytes);
      await target.sync();
    } finally {
      await target.close();
    }
  }

  /** A layer, unpacked as it is read, and never more of it than is allowed. */
  async *#unpacked(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const unpacker = unpackerOf(await firstBytes(path));
    const file = createReadStream(path, { signal, highWaterMark: 256 * 1024 });
    const chunks = unpacker ? file.pipe(unpacker) : file;
    file.on('error', (error) => unpacker?.destroy(error));
    let bytes = 0;
    try {
      for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > 2 * this.#parts.maxBytes)
          throw new SourceFault('a layer of it becomes too large when it is unpacked');
        yield chunk;
      }
    } catch (error) {
      throw isDamage(error) ? new SourceFault('a layer of it cannot be unpacked', { cause: error }) : error;
    } finally {
      file.destroy();
    }
  }

  /** A directory for unfinished work, which ends with it. */
  async #inRoom<T>(use: (room: string) => Promise<T>): Promise<T> {
    const { layout, random } = this.#parts.disk;
    const room = join(layout.work, random.uuid());
    await mkdir(room, { mode: 0o700 });
    try {
      return await use(room);
    } finally {
      await rm(room, { recursive: true, force: true });
    }
  }
}

export interface DiskOrder {
  readonly repository: string;
  readonly image: ResolvedImage;
  readonly path: string | undefined;
  readonly access: RegistryAccess;
  readonly to: string;
}

/** Manifests and configurations, which the program writes as well. */
const smallFiles = 16 * 1024 * 1024;

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function unpackerOf(start: Buffer): ReturnType<typeof createGunzip> | undefined {
  if (start.length >= 2 && start.readUInt16BE(0) === 0x1f8b) return createGunzip();
  return start.length === 4 && start.readUInt32BE(0) === 0x28b52ffd ? createZstdDecompress() : undefined;
}

function isDamage(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^(Z_|ZSTD_|ERR_ZLIB)/.test(code);
}
