import { statfs } from 'node:fs/promises';
import { badRequest, type Disposable, toError } from '@sheaf/base';
import type { ContainerImage, ContainerImages, ContainerSpace, PullOrder, PullProgress } from '@sheaf/ports';
import { untilAborted } from '../qemu/task-queue.ts';
import { archiveFailure, archiveInput } from './archive/archive-input.ts';
import { ImagePull } from './image-pull.ts';
import { pauseImage } from './pause/pause-image.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { runPodman } from './podman-program.ts';
import { refusals, translated } from './refusals.ts';
import { RestError } from './rest-client.ts';

interface ImageEntry {
  readonly Id: string;
  readonly RepoTags: readonly string[] | null;
  readonly RepoDigests: readonly string[] | null;
  readonly Size: number;
  readonly Created: number;
}

type ProcessConfig = Pick<ContainerImage, 'user' | 'entryPoint' | 'arguments'>;

interface ImageConfig {
  readonly Config?: {
    readonly User?: string;
    readonly Entrypoint?: readonly string[] | null;
    readonly Cmd?: readonly string[] | null;
  };
}

interface DiskUse {
  readonly Containers: readonly { readonly RWSize: number }[] | null;
  readonly Volumes: readonly { readonly Size: number }[] | null;
}

const referencePattern = /^[A-Za-z0-9][A-Za-z0-9_./:@+-]{0,511}$/;

/** Images of podman. */
export class PodmanImages implements ContainerImages {
  readonly #engine: PodmanEngine;
  readonly #pulls = new Map<string, ImagePull>();
  readonly #listeners = new Set<(orderId: string) => void>();
  /** What an image says of its processes cannot change. */
  readonly #configs = new Map<string, ProcessConfig>();

  constructor(engine: PodmanEngine) {
    this.#engine = engine;
  }

  async list(signal: AbortSignal): Promise<readonly ContainerImage[]> {
    return await this.#call(signal, () => this.#list());
  }

  async find(reference: string, signal: AbortSignal): Promise<ContainerImage | undefined> {
    return await this.#call(signal, async () => {
      checkReference(reference);
      return (await this.#list()).find((image) => isNamed(image, reference));
    });
  }

  onPull(listener: (orderId: string) => void): Disposable {
    const own = (id: string): void => listener(id);
    this.#listeners.add(own);
    return { dispose: () => this.#listeners.delete(own) };
  }

  async pull(order: PullOrder, signal: AbortSignal): Promise<PullProgress> {
    return await this.#call(signal, async () => {
      checkReference(order.reference);
      if (!/^[^/]*[.:][^/]*\/|^localhost\//.test(order.reference))
        throw badRequest(`${order.reference} does not name its registry: write docker.io/library/NAME:TAG`);
      const pull = this.#pulls.get(order.id) ?? this.#begin(order);
      const { end } = pull;
      if (!end) return { state: 'working', receivedBytes: pull.receivedBytes, totalBytes: undefined };
      this.#pulls.delete(order.id);
      if ('state' in end) return end;
      const image = (await this.#list()).find(({ id }) => id.endsWith(end.imageId));
      // Removed meanwhile.
      return image
        ? { state: 'done', image }
        : { state: 'failed', message: 'the image is not there any more', nature: 'transient' };
    });
  }

  async cancelPull(orderId: string, signal: AbortSignal): Promise<void> {
    await this.#call(signal, async () => {
      await this.#pulls.get(orderId)?.cancel();
      this.#pulls.delete(orderId);
    });
  }

  async load(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<readonly ContainerImage[]> {
    return await this.#call(signal, async () => {
      const { layout, limits } = this.#engine.parts;
      const { status, output, errors } = await runPodman(layout, {
        args: ['load', '--quiet'],
        input: archiveInput(archive),
        signal: AbortSignal.any([signal, this.#engine.signal, AbortSignal.timeout(limits.loadMs)]),
      });
      if (status !== 0) throw badRequest(archiveFailure(errors));
      const names = [...output.matchAll(/^Loaded image: (.+)$/gm)].map(([, name]) => name ?? '');
      const images = await this.#list();
      return images.filter((image) => names.some((name) => isNamed(image, name)));
    });
  }

  async remove(reference: string, signal: AbortSignal): Promise<void> {
    await this.#call(signal, async () => {
      checkReference(reference);
      const found = (await this.#list()).find((image) => isNamed(image, reference));
      if (!found) throw refusals.noImage(reference);
      // A name alone would not go while a container uses what it names, but with others it may.
      const isId = found.id === reference;
      const names = isId ? [...found.tags.slice(1), hexOf(found.id)] : [reference];
      try {
        for (const name of names)
          await this.#engine.call({ method: 'DELETE', path: `/images/${encodeURIComponent(name)}` });
      } catch (error) {
        throw translated(error);
      }
    });
  }

  async space(signal: AbortSignal): Promise<ContainerSpace> {
    return await this.#call(signal, async () => {
      const { storage } = this.#engine.parts.layout;
      const [use, images, room] = await Promise.all([
        this.#engine.call({ method: 'GET', path: '/system/df' }) as Promise<DiskUse>,
        this.#list(),
        statfs(storage),
      ]);
      const sum = (numbers: readonly number[]): number => numbers.reduce((total, bytes) => total + bytes, 0);
      return {
        imageBytes: sum(images.map(({ bytes }) => bytes)),
        containerBytes:
          sum((use.Containers ?? []).map(({ RWSize }) => Math.max(0, RWSize))) +
          sum((use.Volumes ?? []).map(({ Size }) => Size)),
        freeBytes: room.bavail * room.bsize,
        totalBytes: room.blocks * room.bsize,
      };
    });
  }

  #begin(order: PullOrder): ImagePull {
    const pull = new ImagePull(this.#engine, order, () => this.#announce(order.id));
    this.#pulls.set(order.id, pull);
    return pull;
  }

  #announce(orderId: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(orderId);
      } catch (error) {
        this.#engine.parts.logger.error('A listener for pulls failed', { error: toError(error) });
      }
    }
  }

  async #list(): Promise<readonly ContainerImage[]> {
    const answer = await this.#engine.call({ method: 'GET', path: '/images/json' });
    const entries = ((answer ?? []) as readonly ImageEntry[]).filter(
      ({ RepoTags }) => !RepoTags?.includes(pauseImage().name),
    );
    const images = await Promise.all(entries.map((entry) => this.#observe(entry)));
    return images.filter((image) => image !== undefined).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** `undefined` for one that has been removed meanwhile. */
  async #observe(entry: ImageEntry): Promise<ContainerImage | undefined> {
    const config = await this.#config(entry.Id);
    return (
      config && {
        id: `sha256:${entry.Id}`,
        tags: (entry.RepoTags ?? []).toSorted(),
        digests: (entry.RepoDigests ?? []).toSorted(),
        bytes: entry.Size,
        createdAt: entry.Created * 1000,
        ...config,
      }
    );
  }

  async #config(id: string): Promise<ProcessConfig | undefined> {
    const kept = this.#configs.get(id);
    if (kept) return kept;
    try {
      const config = configOf(await this.#engine.call({ method: 'GET', path: `/images/${id}/json` }));
      this.#configs.set(id, config);
      return config;
    } catch (error) {
      if (error instanceof RestError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #call<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    this.#engine.signal.throwIfAborted();
    signal.throwIfAborted();
    return await untilAborted(
      this.#engine.opened().then(() => task()),
      signal,
    );
  }
}

function configOf(answer: unknown): ProcessConfig {
  const { Config } = answer as ImageConfig;
  return {
    user: Config?.User ?? '',
    entryPoint: Config?.Entrypoint ?? [],
    arguments: Config?.Cmd ?? [],
  };
}

function isNamed(image: ContainerImage, reference: string): boolean {
  const { id, tags, digests } = image;
  return (
    id === reference || hexOf(id) === reference || tags.includes(reference) || digests.includes(reference)
  );
}

function hexOf(id: string): string {
  return id.slice('sha256:'.length);
}

/** @throws StatusError for what could be taken for something else on its way */
function checkReference(reference: string): void {
  if (!referencePattern.test(reference))
    throw badRequest(`${JSON.stringify(reference)} cannot name an image: write REGISTRY/REPOSITORY:TAG`);
}
