import { type Clock, type Random, sleep } from '@sheaf/base';

export interface SimulatedDiskFaults {
  /** Asked before each step: true ends this life of the driver there. */
  crashesAt(step: string): boolean;
  /** Asked for each piece that is copied, unpacked or received. */
  diskIsFull(): boolean;
  /** What becomes of the bytes that come in. */
  corrupts(): boolean;
}

export const noDiskFaults: SimulatedDiskFaults = {
  crashesAt: () => false,
  diskIsFull: () => false,
  corrupts: () => false,
};

export class SimulatedCrash extends Error {
  constructor(step: string) {
    super(`the driver died before "${step}"`);
  }
}

/** One life of the simulated drivers: what is not on the medium ends with it. */
export class SimulatedLife {
  readonly clock: Clock;
  readonly random: Random;
  readonly #faults: SimulatedDiskFaults;
  readonly #end = new AbortController();

  constructor(parts: { clock: Clock; random: Random; faults: SimulatedDiskFaults }) {
    this.clock = parts.clock;
    this.random = parts.random;
    this.#faults = parts.faults;
  }

  get isOver(): boolean {
    return this.#end.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Others get their turn; then it goes on, or dies. */
  async step(label: string): Promise<void> {
    await Promise.resolve();
    if (this.#faults.crashesAt(label)) this.end(label);
    if (this.isOver) throw this.#end.signal.reason;
  }

  /** Part of long work: it takes owned time, and may find the disk full. */
  async work(label: string, signal: AbortSignal): Promise<void> {
    await sleep(this.clock, 5 + this.random.integer(10), signal);
    await this.step(label);
    this.checkRoom();
  }

  checkRoom(): void {
    if (this.#faults.diskIsFull())
      throw new SimulatedDiskFull('the disk is full; remove volumes, snapshots or images, or add storage');
  }

  /** Bytes as they arrive. */
  arrived(bytes: Uint8Array): Uint8Array {
    if (!this.#faults.corrupts()) return bytes;
    return bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte));
  }

  end(label: string): void {
    this.#end.abort(new SimulatedCrash(label));
  }
}

/** Passes when there is room. */
export class SimulatedDiskFull extends Error {}
