import { createHash } from 'node:crypto';
import { type Disposable, StatusError, sleep, toError } from '@sheaf/base';
import type {
  Capability,
  ContainerDiskObservation,
  ContainerDiskOrder,
  ContainerDisks,
  ImageObservation,
  Progress,
} from '@sheaf/ports';
import { containerImagePrefix } from '@sheaf/ports';
import type { Announcer } from '../announcer.ts';
import type { DiskState } from '../disk-state.ts';
import { SourceFault } from '../http-source.ts';
import type { LocalImages } from '../local-images.ts';
import type { RecordFolder } from '../records.ts';
import type { ContainerFetch, ResolvedImage } from './container-fetch.ts';
import { type ImageReference, readReference } from './image-reference.ts';
import type { Skopeo } from './skopeo.ts';

/** What a name and a path stood for when they were last looked up. */
export interface ContainerRecord {
  /** From the name and the path. */
  readonly id: string;
  readonly reference: string;
  readonly imageId: string;
  readonly state: 'known' | 'removing';
}

interface Job {
  readonly abort: AbortController;
  readonly reference: string;
  /** Absent while it goes on. */
  outcome?: { readonly imageId: string } | { readonly failure: Failure };
  ended: Promise<void>;
  readonly occasion: string;
}

interface Failure {
  readonly message: string;
  readonly nature: 'transient' | 'fault';
  /** Until then it is told; a call after it tries again. */
  readonly untilMs: number;
  readonly count: number;
}

export interface ContainerDisksParts {
  readonly disk: DiskState;
  readonly records: RecordFolder<ContainerRecord>;
  readonly images: LocalImages;
  readonly fetch: ContainerFetch;
  readonly skopeo: Skopeo;
  readonly announcer: Announcer;
  readonly maxBytes: number;
  /** The first pause after a failure; it doubles with each further one. */
  readonly retryMs: number;
}

const working: ContainerDiskObservation = { progress: { state: 'working', percent: 0 } };
const longestRetryMs = 300_000;
const lookMs = 50;

/** Disks in container images as images of the same directory, one for each content. */
export class LocalContainerDisks implements ContainerDisks {
  readonly #parts: ContainerDisksParts;
  readonly #jobs = new Map<string, Job>();
  #isDisposed = false;

  constructor(parts: ContainerDisksParts) {
    this.#parts = parts;
  }

  async capability(signal: AbortSignal): Promise<Capability> {
    signal.throwIfAborted();
    if (await this.#parts.skopeo.isInstalled())
      return { isAvailable: true, reason: 'container images are fetched by skopeo' };
    return {
      isAvailable: false,
      reason: 'skopeo is not installed',
      wayOut: 'install the package skopeo, e.g. with apt-get install skopeo',
    };
  }

  onChange(listener: (reference: string) => void): Disposable {
    return this.#parts.announcer.listen(listener);
  }

  async fetch(order: ContainerDiskOrder, signal: AbortSignal): Promise<ContainerDiskObservation> {
    signal.throwIfAborted();
    const id = keyOf(order);
    // What ends from here on is told by the next call: what is looked at now may be from before.
    const isUnderWay = this.#isUnderWay(id);
    const isEnough = this.#isEnough(id, order);
    const present = await this.#present(id, signal);
    if (present && isEnough) return observed(present);
    if (isUnderWay && !this.#isUnderWay(id)) return working;
    if (order.policy === 'Never')
      return failed(
        `${order.reference} is not here, and the policy Never fetches nothing; use the policy IfNotPresent`,
        'fault',
      );
    return await this.#tell(this.#current(id, order) ?? this.#begin(id, order), signal);
  }

  async #tell({ outcome }: Job, signal: AbortSignal): Promise<ContainerDiskObservation> {
    if (!outcome) return working;
    if ('failure' in outcome) return failed(outcome.failure.message, outcome.failure.nature);
    const image = await this.#parts.images.find(outcome.imageId, signal);
    return image ? observed(image) : working;
  }

  async keepOnly(references: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { records, images } = this.#parts;
    const busy = new Set(
      [...this.#jobs.values()].filter(({ outcome }) => !outcome).map((job) => job.reference),
    );
    const isKept = ({ reference }: ContainerRecord): boolean =>
      references.has(reference) || busy.has(reference);
    for (const record of records.all()) if (!isKept(record)) await records.delete(record.id);
    if (busy.size > 0) return;
    const known = new Set(records.all().map(({ imageId }) => imageId));
    for (const { id } of await images.list(signal))
      if (id.startsWith(containerImagePrefix) && !known.has(id)) await this.#removeUnused(id, signal);
    for (const [id, job] of this.#jobs) if (!references.has(job.reference)) this.#jobs.delete(id);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const { abort } of this.#jobs.values()) abort.abort(new Error('it is not wanted any more'));
    for (const { ended } of this.#jobs.values()) await ended;
  }

  /** One that a volume is based on goes when that has gone. */
  async #removeUnused(id: string, signal: AbortSignal): Promise<void> {
    await this.#parts.images.remove(id, signal).catch((error: unknown) => {
      if (!StatusError.is(error, 'Conflict')) throw error;
    });
  }

  async #present(id: string, signal: AbortSignal): Promise<ImageObservation | undefined> {
    const record = this.#parts.records.get(id);
    const image = record && (await this.#parts.images.find(record.imageId, signal));
    return image?.progress.state === 'done' ? image : undefined;
  }

  #isUnderWay(id: string): boolean {
    const job = this.#jobs.get(id);
    return job !== undefined && !job.outcome;
  }

  /** What is here need not be looked up again. */
  #isEnough(id: string, { policy, occasion, reference }: ContainerDiskOrder): boolean {
    if (policy !== 'Always' || reference.includes('@')) return true;
    const job = this.#jobs.get(id);
    return job?.occasion === occasion && job.outcome !== undefined && 'imageId' in job.outcome;
  }

  /** The work that is going on, or has ended in a way that still counts. */
  #current(id: string, { occasion }: ContainerDiskOrder): Job | undefined {
    const job = this.#jobs.get(id);
    if (!job?.outcome) return job;
    if ('imageId' in job.outcome) return undefined;
    const isOver = this.#parts.disk.clock.monotonic() >= job.outcome.failure.untilMs;
    return isOver || job.occasion !== occasion ? undefined : job;
  }

  #begin(id: string, order: ContainerDiskOrder): Job {
    if (this.#isDisposed)
      throw new StatusError({ reason: 'ServiceUnavailable', message: 'the server stops' });
    const before = this.#jobs.get(id)?.outcome;
    const count = before && 'failure' in before ? before.failure.count : 0;
    const { reference, occasion } = order;
    const job: Job = { abort: new AbortController(), reference, occasion, ended: Promise.resolve() };
    this.#jobs.set(id, job);
    job.ended = this.#run(id, order, job.abort.signal)
      .then(
        (imageId) => {
          job.outcome = { imageId };
        },
        (error: unknown) => {
          job.outcome = { failure: this.#failureOf(toError(error), count) };
        },
      )
      .finally(() => this.#parts.announcer.announce(reference));
    return job;
  }

  #failureOf(error: Error, count: number): Failure {
    const { disk, retryMs } = this.#parts;
    const restMs = Math.min(longestRetryMs, retryMs * 2 ** Math.min(count, 10));
    return {
      message: error.message,
      nature: error instanceof SourceFault ? 'fault' : 'transient',
      untilMs: disk.clock.monotonic() + restMs,
      count: count + 1,
    };
  }

  async #run(id: string, order: ContainerDiskOrder, signal: AbortSignal): Promise<string> {
    const { fetch, records, disk } = this.#parts;
    const reference = readReference(order.reference);
    const image = await fetch.resolve(reference, order.access, signal);
    const imageId = imageIdOf(image.digest, order.path);
    await this.#ensureImage({ imageId, image, reference, order }, signal);
    await records.put({ id, reference: order.reference, imageId, state: 'known' });
    disk.logger.info('container disk is here', { reference: order.reference, digest: image.digest });
    return imageId;
  }

  async #ensureImage({ imageId, image, reference, order }: FetchWork, signal: AbortSignal): Promise<void> {
    const { disk, images, fetch, maxBytes } = this.#parts;
    const { access, path } = order;
    const found = await images.find(imageId, signal);
    if (found?.progress.state !== 'done') {
      // What an earlier life has left is not worth more than a new one.
      if (found) await images.remove(imageId, signal);
      await disk.withWorkFile(async (to) => {
        await fetch.fetch({ repository: reference.repository, image, path, access, to }, signal);
        const wanted = { id: imageId, title: order.reference, origin: { kind: 'upload' }, maxBytes } as const;
        await images.adopt(wanted, to);
      });
    }
    await this.#verified(imageId, signal);
  }

  async #verified(imageId: string, signal: AbortSignal): Promise<void> {
    const { images, disk } = this.#parts;
    for (;;) {
      const progress = (await images.find(imageId, signal))?.progress;
      if (progress?.state === 'done') return;
      if (progress?.state === 'failed') throw refusalOf(progress);
      await sleep(disk.clock, lookMs, signal);
    }
  }
}

interface FetchWork {
  readonly imageId: string;
  readonly image: ResolvedImage;
  readonly reference: ImageReference;
  readonly order: ContainerDiskOrder;
}

function refusalOf({ message, nature }: Extract<Progress, { state: 'failed' }>): Error {
  return nature === 'fault' ? new SourceFault(`the disk in it is no good: ${message}`) : new Error(message);
}

function keyOf({ reference, path = '' }: ContainerDiskOrder): string {
  return digestOf(`${reference}\n${path}`);
}

function imageIdOf(digest: string, path = ''): string {
  return `${containerImagePrefix}${digestOf(`${digest}\n${path}`)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}

function observed({ id, image, progress }: ImageObservation): ContainerDiskObservation {
  return image ? { progress, image: { id, virtualBytes: image.virtualBytes } } : { progress };
}

function failed(message: string, nature: 'transient' | 'fault'): ContainerDiskObservation {
  return { progress: { state: 'failed', message, nature } };
}
