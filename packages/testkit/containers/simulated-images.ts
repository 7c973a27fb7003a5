import { type Disposable, disposable } from '@sheaf/base';
import type { ContainerImage, ContainerImages, ContainerSpace, PullOrder, PullProgress } from '@sheaf/ports';
import { SimulatedLife } from '../hypervisor/simulated-life.ts';
import type { SimulatedContainerHost } from './simulated-container-host.ts';
import { containerRefusals as refusals } from './simulated-refusals.ts';

type PullEnd = Exclude<PullProgress, { readonly state: 'working' }>;

interface SimulatedPull {
  readonly timers: Disposable[];
  receivedBytes: number;
  readonly totalBytes: number;
  end: PullEnd | undefined;
}

/** Until the first half has come, and until the whole. */
const halfMs = 50;
const wholeMs = 100;

/** Archives of simulated images: what they hold, as JSON. */
export interface SimulatedArchive {
  readonly tag: string;
  readonly image: Omit<ContainerImage, 'tags' | 'digests'>;
}

/** Images on a simulated host. */
export class SimulatedContainerImages implements ContainerImages {
  readonly #host: SimulatedContainerHost;
  readonly #life: SimulatedLife;
  readonly #pulls = new Map<string, SimulatedPull>();
  readonly #listeners = new Set<(orderId: string) => void>();

  constructor(host: SimulatedContainerHost) {
    this.#host = host;
    this.#life = new SimulatedLife(host);
  }

  /** Pulls under way do not outlive the driver. */
  dispose(): void {
    this.#life.dispose();
    for (const id of this.#pulls.keys()) this.#cancel(id);
    this.#listeners.clear();
  }

  async list(signal: AbortSignal): Promise<readonly ContainerImage[]> {
    return await this.#life.call('listImages', signal, () =>
      [...this.#host.images.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  }

  async find(reference: string, signal: AbortSignal): Promise<ContainerImage | undefined> {
    return await this.#life.call('findImage', signal, () => this.#find(reference));
  }

  onPull(listener: (orderId: string) => void): Disposable {
    const own = (id: string): void => listener(id);
    this.#listeners.add(own);
    return disposable(() => this.#listeners.delete(own));
  }

  async pull(order: PullOrder, signal: AbortSignal): Promise<PullProgress> {
    return await this.#life.call('pull', signal, () => {
      if (!order.reference.includes('/')) throw refusals.noRegistry(order.reference);
      const pull = this.#pulls.get(order.id) ?? this.#begin(order);
      const { end, receivedBytes, totalBytes } = pull;
      if (!end) return { state: 'working', receivedBytes, totalBytes };
      this.#pulls.delete(order.id);
      return end;
    });
  }

  async cancelPull(orderId: string, signal: AbortSignal): Promise<void> {
    await this.#life.call('cancelPull', signal, () => this.#cancel(orderId));
  }

  async load(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<readonly ContainerImage[]> {
    return await this.#life.call('load', signal, async () => {
      const parts: Uint8Array[] = [];
      for await (const part of archive) parts.push(part);
      const { tag, image } = parseArchive(Buffer.concat(parts).toString());
      return [this.#host.addImage(tag, image)];
    });
  }

  async remove(reference: string, signal: AbortSignal): Promise<void> {
    await this.#life.call('removeImage', signal, () => {
      const image = this.#find(reference);
      if (!image) throw refusals.noImage(reference);
      const tags = reference === image.id ? [] : image.tags.filter((tag) => tag !== reference);
      const isUsed = [...this.#host.containers.values()].some(({ spec }) => spec.imageId === image.id);
      if (tags.length === 0 && isUsed) throw refusals.imageInUse(reference);
      if (tags.length > 0) this.#host.images.set(image.id, { ...image, tags });
      else this.#host.images.delete(image.id);
    });
  }

  async space(signal: AbortSignal): Promise<ContainerSpace> {
    return await this.#life.call('space', signal, () => {
      const imageBytes = [...this.#host.images.values()].reduce((sum, { bytes }) => sum + bytes, 0);
      const totalBytes = 100 * 1024 ** 3;
      return { imageBytes, containerBytes: 0, freeBytes: totalBytes - imageBytes, totalBytes };
    });
  }

  #find(reference: string): ContainerImage | undefined {
    return [...this.#host.images.values()].find(
      ({ id, tags, digests }) => id === reference || tags.includes(reference) || digests.includes(reference),
    );
  }

  #begin(order: PullOrder): SimulatedPull {
    const { clock, faults, sources } = this.#host;
    const source = sources.get(order.reference);
    const totalBytes = source?.image.bytes ?? 0;
    const pull: SimulatedPull = { timers: [], receivedBytes: 0, totalBytes, end: undefined };
    this.#pulls.set(order.id, pull);
    const after = (delayMs: number, task: () => void): void => {
      pull.timers.push(
        clock.schedule(delayMs, () => {
          task();
          for (const listener of this.#listeners) listener(order.id);
        }),
      );
    };
    const message = this.#host.refusal(order);
    if (message !== undefined || !source) {
      after(halfMs, () => (pull.end = { state: 'failed', message: message ?? '', nature: 'fault' }));
      return pull;
    }
    after(halfMs, () => (pull.receivedBytes = totalBytes / 2));
    if (source.isStalling === true) {
      const words = `nothing came for ${faults.pullStallMs} ms`;
      after(halfMs + faults.pullStallMs, () => {
        pull.end = { state: 'failed', message: words, nature: 'transient' };
      });
    } else
      after(wholeMs, () => {
        pull.end = { state: 'done', image: this.#host.addImage(order.reference, source.image) };
      });
    return pull;
  }

  #cancel(orderId: string): void {
    for (const timer of this.#pulls.get(orderId)?.timers ?? []) timer.dispose();
    this.#pulls.delete(orderId);
  }
}

function parseArchive(text: string): SimulatedArchive {
  try {
    return JSON.parse(text) as SimulatedArchive;
  } catch {
    throw refusals.badArchive();
  }
}
