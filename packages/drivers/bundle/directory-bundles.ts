import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Disposable, type Logger, StatusError, toError } from '@sheaf/base';
import type {
  BundledImage,
  BundleIndex,
  BundleNews,
  BundleRemoval,
  Bundles,
  ContainerImages,
  LoadedBundle,
} from '@sheaf/ports';
import { bundleId, refused } from './bundle-index.ts';
import { openBundle } from './bundle-reader.ts';
import { BundleRecords } from './bundle-records.ts';
import { hostPlatform } from './host-platform.ts';
import { imageArchive } from './image-archive.ts';
import { placeChart, placeFile, removeChart } from './placed-files.ts';
import { StagedParts } from './staged-parts.ts';

export interface DirectoryBundlesOptions {
  /** Where bundles are told and taken in. */
  readonly directory: string;
  /** The host's charts. */
  readonly charts: string;
  /** Where programs go that the host has not. */
  readonly tools: string;
  readonly hasProgram: (name: string) => boolean;
  readonly images: ContainerImages;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An image is put aside and unpacked while it is loaded. */
const imageCopies = 3;

/** Bundles in the data directory of a host: charts go to its charts, images to its engine. */
export class DirectoryBundles implements Bundles {
  readonly #options: DirectoryBundlesOptions;
  readonly #records: BundleRecords;
  readonly #staged: StagedParts;
  readonly #listeners = new Set<() => void>();
  #references: ReadonlySet<string>;
  #isLoading = false;

  constructor(options: DirectoryBundlesOptions) {
    this.#options = options;
    this.#records = new BundleRecords(options.directory, options.logger);
    this.#staged = new StagedParts(join(options.directory, 'incoming'));
    this.#references = referencesOf(this.#records.list());
  }

  list(): readonly LoadedBundle[] {
    return this.#records.list();
  }

  hasImage(reference: string): boolean {
    return this.#references.has(reference);
  }

  onChange(listener: () => void): Disposable {
    const own = (): void => listener();
    this.#listeners.add(own);
    return { dispose: () => void this.#listeners.delete(own) };
  }

  async *load(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<BundleNews> {
    if (this.#isLoading)
      throw new StatusError({
        reason: 'Conflict',
        message: 'another bundle is being loaded; try again when that is over: sheaf bundle ls',
      });
    this.#isLoading = true;
    try {
      const index = await this.#receive(archive, signal);
      const id = bundleId(index);
      yield { step: 'received', id, index };
      yield* this.#placeFiles(index);
      for (const image of index.images) yield await this.#loadImage(image, signal);
      await this.#records.add(index, this.#options.clock.now());
      await this.#staged.clear();
      this.#announce();
      yield { step: 'done', id };
    } finally {
      this.#isLoading = false;
    }
  }

  async remove(id: string, signal: AbortSignal): Promise<BundleRemoval> {
    const bundle = this.#records.find(id);
    if (!bundle)
      throw new StatusError({
        reason: 'NotFound',
        message: `there is no bundle ${id}; see: sheaf bundle ls`,
      });
    const others = this.#records.list().filter((each) => each !== bundle);
    // Without its record first: what is half removed is no bundle any more.
    await this.#records.remove(id);
    const isElsewhere = new Set(others.flatMap(({ charts }) => charts.map(chartKey)));
    for (const chart of bundle.charts)
      if (!isElsewhere.has(chartKey(chart))) await removeChart(this.#options.charts, chart);
    this.#announce();
    // One image may have several names, and go with the last one.
    const needed = new Set(others.flatMap(({ images }) => images.map(({ digest }) => digest)));
    const kept: string[] = [];
    for (const { reference, digest } of bundle.images) {
      if (this.hasImage(reference)) continue;
      if (needed.has(digest) || !(await this.#removeImage(reference, signal))) kept.push(reference);
    }
    return { kept };
  }

  async #receive(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<BundleIndex> {
    const { index, parts } = await openBundle(archive);
    if (index.platform !== hostPlatform())
      throw refused(`it was made for ${index.platform}, and this host is ${hostPlatform()}`);
    await this.#staged.prepare(index);
    await this.#checkRoom(index);
    for await (const part of parts) await this.#staged.take(part, signal);
    await this.#staged.checkWhole(index);
    return index;
  }

  async #checkRoom(index: BundleIndex): Promise<void> {
    const sizes = new Map(index.parts.map(({ digest, bytes }) => [digest, bytes]));
    const images = index.images.map(({ parts }) => sumOf(parts.map((digest) => sizes.get(digest) ?? 0)));
    const unpacked = sumOf(images) + imageCopies * Math.max(0, ...images);
    const needed = (await this.#staged.missingBytes(index)) + unpacked;
    const { bavail, bsize } = await statfs(this.#options.directory);
    const free = bavail * bsize;
    if (needed <= free) return;
    const message = `the bundle needs ${needed} bytes while it is loaded, and ${free} are free in ${this.#options.directory}; make room, or make smaller bundles`;
    throw new StatusError({ reason: 'RequestEntityTooLarge', message });
  }

  async *#placeFiles(index: BundleIndex): AsyncGenerator<BundleNews> {
    const { charts, tools, hasProgram } = this.#options;
    for (const { name, version, digest } of index.programs) {
      if (hasProgram(name)) continue;
      await placeFile(this.#staged.pathOf(digest), join(tools, name), 0o755);
      yield { step: 'program-stored', name: `${name} ${version}` };
    }
    for (const chart of index.charts) {
      await placeChart(charts, chart, this.#staged.pathOf(chart.digest));
      yield { step: 'chart-stored', name: `${chart.chart} ${chart.version}` };
    }
  }

  async #loadImage(image: BundledImage, signal: AbortSignal): Promise<BundleNews> {
    const { images } = this.#options;
    const { reference, digest } = image;
    const found = await images.find(reference, signal);
    if (found?.digests.some((each) => each.endsWith(`@${digest}`)))
      return { step: 'image-present', name: reference };
    await images.load(
      imageArchive(image, (part) => this.#staged.pathOf(part)),
      signal,
    );
    if (await images.find(reference, signal)) return { step: 'image-loaded', name: reference };
    throw refused(`its image ${reference} is not there after it was loaded: its name and its content differ`);
  }

  /** Whether it is gone. */
  async #removeImage(reference: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.images.remove(reference, signal);
      return true;
    } catch (error) {
      if (StatusError.is(error, 'NotFound')) return true;
      if (StatusError.is(error, 'Conflict')) return false;
      throw error;
    }
  }

  #announce(): void {
    this.#references = referencesOf(this.#records.list());
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#options.logger.error('A listener for bundles failed', { error: toError(error) });
      }
    }
  }
}

function referencesOf(bundles: readonly LoadedBundle[]): ReadonlySet<string> {
  return new Set(bundles.flatMap(({ images }) => images.map(({ reference }) => reference)));
}

function chartKey(chart: LoadedBundle['charts'][number]): string {
  return JSON.stringify([chart.repo, chart.chart, chart.version, chart.digest]);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
