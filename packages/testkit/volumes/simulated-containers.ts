import { createHash } from 'node:crypto';
import { type Disposable, StatusError } from '@sheaf/base';
import {
  type Capability,
  type ContainerDiskObservation,
  type ContainerDiskOrder,
  type ContainerDisks,
  containerImagePrefix,
  type Images,
} from '@sheaf/ports';
import { SimulatedChanges } from './simulated-changes.ts';

type Files = Readonly<Record<string, Uint8Array>>;

/** A registry without any network: what names stand for. */
export class SimulatedRegistry {
  readonly #images = new Map<string, Files>();
  lookups = 0;

  push(reference: string, files: Files): void {
    this.#images.set(reference, files);
  }

  /** @throws Error when there is none */
  find(reference: string): Files {
    this.lookups++;
    const files = this.#images.get(reference);
    if (!files) throw new Error(`${reference}: manifest unknown`);
    return files;
  }
}

interface Known {
  readonly imageId: string;
  readonly occasion: string;
}

/** Disks in images of a simulated registry; what was looked up is forgotten with its life. */
export class SimulatedContainers implements ContainerDisks {
  readonly #images: Images;
  readonly #registry: SimulatedRegistry;
  readonly #changes = new SimulatedChanges();
  readonly #known = new Map<string, Known & { readonly reference: string }>();

  constructor(images: Images, registry: SimulatedRegistry) {
    this.#images = images;
    this.#registry = registry;
  }

  capability(): Promise<Capability> {
    return Promise.resolve({ isAvailable: true, reason: 'the registry is simulated' });
  }

  onChange(listener: (reference: string) => void): Disposable {
    return this.#changes.listen(listener);
  }

  async fetch(order: ContainerDiskOrder, signal: AbortSignal): Promise<ContainerDiskObservation> {
    const { reference, path = '', policy, occasion } = order;
    const key = `${reference}\n${path}`;
    const known = this.#known.get(key);
    const isEnough = known !== undefined && (policy !== 'Always' || known.occasion === occasion);
    if (isEnough) return this.#observe(known.imageId, signal);
    if (policy === 'Never')
      return failed(`${reference} is not here, and the policy Never fetches nothing`, 'fault');
    try {
      const imageId = await this.#bring(order, signal);
      this.#known.set(key, { imageId, occasion, reference });
      this.#changes.announce(reference);
      return await this.#observe(imageId, signal);
    } catch (error) {
      if (!(error instanceof Error) || StatusError.is(error)) throw error;
      return failed(error.message, 'transient');
    }
  }

  async keepOnly(references: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    for (const [key, { reference }] of this.#known) if (!references.has(reference)) this.#known.delete(key);
    const known = new Set([...this.#known.values()].map(({ imageId }) => imageId));
    for (const { id } of await this.#images.list(signal)) {
      if (!id.startsWith(containerImagePrefix) || known.has(id)) continue;
      await this.#images.remove(id, signal).catch((error: unknown) => {
        if (!StatusError.is(error, 'Conflict')) throw error;
      });
    }
  }

  async #bring({ reference, path }: ContainerDiskOrder, signal: AbortSignal): Promise<string> {
    if (!/^[a-z0-9]/.test(reference))
      throw new Error(`${JSON.stringify(reference)} is no name of a container image`);
    const bytes = diskIn(this.#registry.find(reference), path);
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 40);
    const id = `${containerImagePrefix}${digest}`;
    if (await this.#images.find(id, signal)) return id;
    const origin = { kind: 'upload' } as const;
    await this.#images.request({ id, title: reference, origin, maxBytes: 2 ** 40 }, signal);
    await this.#images.receive(id, { offset: 0, bytes: inOnePiece(bytes), isLast: true }, signal);
    return id;
  }

  async #observe(imageId: string, signal: AbortSignal): Promise<ContainerDiskObservation> {
    const found = await this.#images.find(imageId, signal);
    if (!found) return { progress: { state: 'working', percent: 0 } };
    const { progress, image } = found;
    if (progress.state === 'failed') {
      // What is behind the name may be another one the next time.
      for (const [key, known] of this.#known) if (known.imageId === imageId) this.#known.delete(key);
      await this.#images.remove(imageId, new AbortController().signal);
    }
    return image ? { progress, image: { id: imageId, virtualBytes: image.virtualBytes } } : { progress };
  }
}

function diskIn(files: Files, path: string | undefined): Uint8Array {
  const wanted = Object.entries(files).filter(([name]) =>
    path === undefined ? name.startsWith('/disk/') : name === path,
  );
  const [found, second] = wanted;
  if (second) throw new Error('more than one file is in its folder /disk');
  if (!found) throw new Error(`there is no ${path ?? 'file in its folder /disk'}`);
  return found[1];
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function failed(message: string, nature: 'transient' | 'fault'): ContainerDiskObservation {
  return { progress: { state: 'failed', message, nature } };
}
