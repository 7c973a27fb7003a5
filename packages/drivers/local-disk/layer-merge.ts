import { statfs } from 'node:fs/promises';
import { toError } from '@sheaf/base';
import type { DiskState } from './disk-state.ts';
import { formatOf } from './layer-files.ts';
import { chainOf, type LayerPair, mergeablePairs, reachableFrom } from './layer-graph.ts';
import { isLockFailure } from './qemu-img.ts';

/**
 * Merges layers that nothing needs for themselves into one, in the background. What a machine has open is left for later: locks
 * of the kernel tell. While two layers are merged, both show the same, so it may be stopped anywhere and begun again.
 */
export class LayerMerge {
  readonly #disk: DiskState;
  readonly #onMerged: (layer: string) => void;
  readonly #stop = new AbortController();
  #current: (LayerPair & PromiseWithResolvers<void>) | undefined;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;

  constructor(disk: DiskState, onMerged: (layer: string) => void) {
    this.#disk = disk;
    this.#onMerged = onMerged;
  }

  /** What has this layer on top cannot be opened by a machine now. */
  isBusy(top: string): boolean {
    return this.#current !== undefined && chainOf(this.#disk.layers.graph, top).includes(this.#current.upper);
  }

  /** Resolves when the two layers that are being merged are one. */
  async currentEnded(): Promise<void> {
    await this.#current?.promise;
  }

  /** Begins, if there is something to merge. */
  begin(): void {
    if (this.#stop.signal.aborted) return;
    this.#isAskedAgain = this.#running !== undefined;
    this.#running ??= this.#mergeAll().finally(() => {
      this.#running = undefined;
      if (this.#isAskedAgain) this.begin();
    });
  }

  /** Resolves when nothing is being merged. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async dispose(): Promise<void> {
    this.#stop.abort(new Error('the process ends'));
    await this.idle();
  }

  async #mergeAll(): Promise<void> {
    const tried = new Set<string>();
    while (!this.#stop.signal.aborted) {
      const pair = await this.#disk.serial.run(() => this.#next(tried));
      if (!pair) return;
      tried.add(pair.upper);
      await this.#merge(pair);
    }
  }

  async #next(tried: ReadonlySet<string>): Promise<LayerPair | undefined> {
    const { layers, layout } = this.#disk;
    const copied = reachableFrom(layers.graph, this.#disk.pinned);
    for (const pair of mergeablePairs(layers.graph, this.#disk.liveRoots())) {
      if (tried.has(pair.upper) || copied.has(pair.upper) || formatOf(pair.lower) === 'raw') continue;
      const { bavail, bsize } = await statfs(layout.root);
      if ((await layers.allocated([pair.upper])) > bavail * bsize) continue;
      this.#current = { ...pair, ...Promise.withResolvers<void>() };
      return pair;
    }
    return undefined;
  }

  async #merge(pair: LayerPair): Promise<void> {
    const { layers, qemuImg, serial, logger } = this.#disk;
    try {
      await qemuImg.commit(layers.path(pair.upper), this.#stop.signal);
      await qemuImg.reclaim(layers.path(pair.lower), this.#stop.signal);
      await serial.run(() => this.#finish(pair));
    } catch (error) {
      if (isLockFailure(error)) logger.debug('layers stay apart while a machine has them open', { ...pair });
      else if (!this.#stop.signal.aborted)
        logger.warn('layers cannot be merged', { ...pair, error: toError(error).message });
    } finally {
      this.#current?.resolve();
      this.#current = undefined;
      this.#onMerged(pair.upper);
    }
  }

  async #finish({ lower, upper }: LayerPair): Promise<void> {
    const { layers, qemuImg, logger } = this.#disk;
    // Removed meanwhile, both of them.
    if (layers.graph.get(upper) !== lower || !layers.graph.has(lower)) return;
    // Who has opened it since its locks were let go of writes to it: it shows the same, and stays.
    if (await qemuImg.isInUse(layers.path(upper), this.#stop.signal)) {
      logger.debug('layers stay apart: a machine has opened the upper one', { lower, upper });
      return;
    }
    await this.#disk.placeLayer(layers.path(lower), upper);
    await layers.refresh(lower);
  }
}
