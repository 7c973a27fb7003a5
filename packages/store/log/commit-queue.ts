import { RevisionConflict, type StoreChange, type StoreRecord, type StoreWrite } from '../contract.ts';
import { type Journal, recordBytes } from '../journal.ts';

/** One transaction takes at most this much, so that it does not hold up everything else. */
const batchWrites = 256;
const batchBytes = 4 << 20;

export interface CommitQueueOptions {
  readonly journal: Journal;
  /** The revision that was given out last. */
  readonly revision: number;
  /** The newest durable record. */
  readonly head: (key: string) => StoreRecord | undefined;
  /** Makes a durable change visible; called before its writer hears of it. `record` is what the key holds now. */
  readonly publish: (change: StoreChange, record: StoreRecord | undefined) => void;
}

interface PendingWrite {
  readonly change: StoreChange;
  readonly record: StoreRecord | undefined;
  readonly resolve: (revision: number) => void;
  readonly reject: (error: unknown) => void;
  /** Told when this write is durable or has failed. */
  readonly settled: (() => void)[];
}

/**
 * Admits writes in the order of their calls, against the newest record of their key whether durable or still pending,
 * and makes them durable in groups: what arrives while one group is on its way to the disk forms the next.
 *
 * A revision is given out once only. If a group fails, so does every waiting write to one of its keys, as it was admitted
 * on top of it; the revisions of the failed are never used again.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  /** The newest pending write of each key that has one. */
  readonly #heads = new Map<string, PendingWrite>();
  #waiting: PendingWrite[] = [];
  #isRunning = false;
  #revision: number;
  #idle: (() => void)[] = [];

  constructor(options: CommitQueueOptions) {
    this.#options = options;
    this.#revision = options.revision;
  }

  commit(write: StoreWrite): Promise<number> {
    return new Promise((resolve, reject) => {
      const pending = this.#heads.get(write.key);
      const head = pending ? pending.record : this.#options.head(write.key);
      const current = head ? head.revision : 0;
      if (write.expected !== current || (!write.value && !head)) {
        const refuse = (): void => reject(this.#conflict(write.key));
        if (pending) pending.settled.push(refuse);
        else refuse();
        return;
      }
      this.#admit(write, head, { resolve, reject });
    });
  }

  /** Resolves when nothing is pending. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isRunning) this.#idle.push(resolve);
      else resolve();
    });
  }

  #conflict(key: string): RevisionConflict {
    return new RevisionConflict(key, this.#options.head(key)?.revision ?? 0);
  }

  #admit(
    write: StoreWrite,
    previous: StoreRecord | undefined,
    answer: Pick<PendingWrite, 'resolve' | 'reject'>,
  ): void {
    const { key, value } = write;
    const revision = ++this.#revision;
    const pending: PendingWrite = {
      change: { key, value, revision, previous },
      record: value && { key, value, revision },
      resolve: answer.resolve,
      reject: answer.reject,
      settled: [],
    };
    this.#heads.set(key, pending);
    this.#waiting.push(pending);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#options.journal.soon(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#options.journal.append(group.map((pending) => pending.change));
      } catch (error) {
        this.#fail(group, error);
        continue;
      }
      for (const pending of group) this.#options.publish(pending.change, pending.record);
      for (const pending of group) {
        this.#forget(pending);
        pending.resolve(pending.change.revision);
        for (const settled of pending.settled) settled();
      }
    }
    this.#isRunning = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #takeGroup(): PendingWrite[] {
    let bytes = 0;
    let count = 0;
    for (const pending of this.#waiting) {
      bytes += recordBytes(pending.change);
      if (count > 0 && (count >= batchWrites || bytes > batchBytes)) break;
      count++;
    }
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const group = this.#waiting;
    this.#waiting = [];
    return group;
  }

  #fail(group: readonly PendingWrite[], error: unknown): void {
    const keys = new Set(group.map((pending) => pending.change.key));
    const chained = this.#waiting.filter((pending) => keys.has(pending.change.key));
    if (chained.length > 0) this.#waiting = this.#waiting.filter((pending) => !keys.has(pending.change.key));
    const failed = [...group, ...chained];
    for (const pending of failed) this.#forget(pending);
    for (const pending of failed) {
      pending.reject(error);
      for (const settled of pending.settled) settled();
    }
  }

  #forget(pending: PendingWrite): void {
    if (this.#heads.get(pending.change.key) === pending) this.#heads.delete(pending.change.key);
  }
}
