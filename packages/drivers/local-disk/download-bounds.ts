import type { Clock, Disposable } from '@sheaf/base';
import type { PartFile } from './part-file.ts';
import type { SpaceLedger } from './space-ledger.ts';

/** Ends work that takes too long as a whole. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #timer: Disposable;

  constructor(clock: Clock, milliseconds: number, outer: AbortSignal) {
    const abort = new AbortController();
    this.signal = AbortSignal.any([outer, abort.signal]);
    this.#timer = clock.schedule(milliseconds, () =>
      abort.abort(new Error(`it has not come within ${milliseconds / 1000} s`)),
    );
  }

  dispose(): void {
    this.#timer.dispose();
  }
}

/** Room for what is announced, and has not come. */
export class DownloadRoom implements Disposable {
  readonly #ledger: SpaceLedger;
  readonly #what: string;
  readonly #part: PartFile;
  #held: Disposable | undefined;

  constructor(ledger: SpaceLedger, what: string, part: PartFile) {
    this.#ledger = ledger;
    this.#what = what;
    this.#part = part;
  }

  /** Instead of what was held before. @throws StatusError when it does not fit */
  async hold(totalBytes: number | undefined): Promise<void> {
    this.dispose();
    if (totalBytes === undefined) return;
    this.#held = await this.#ledger.hold(this.#what, {
      promisedBytes: totalBytes,
      takenBytes: Math.max(0, totalBytes - this.#part.bytes),
    });
  }

  dispose(): void {
    this.#held?.dispose();
    this.#held = undefined;
  }
}
