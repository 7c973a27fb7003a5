import type { Amounts } from '@sheaf/api/node/index';

export interface Start {
  readonly id: string;
  readonly amounts: Amounts;
}

/** Looks at the world, and judges by it and by the starts that are under way: something is in the way, or nothing. */
export interface Judgement<T, Obstacle> {
  look(): Promise<T>;
  /** `starting` is all that may be missing in what was found; `underWay` what has not come to its end by now. */
  judge(
    found: T,
    starting: ReadonlyMap<string, Amounts>,
    underWay: ReadonlySet<string>,
  ): Obstacle | undefined;
}

/** For how long a look may say yes to further starts. Machines that have ended meanwhile still count in it. */
export interface KeptLooks {
  readonly keepMs: number;
  readonly monotonicMs: () => number;
}

interface Kept {
  readonly found: unknown;
  readonly starting: Map<string, Amounts>;
  readonly sinceMs: number;
}

/**
 * The starts that are under way in this process. A start takes its place in the very moment in which it is judged, so that two
 * passes at once never give away the same room: what is seen of the host is older than that.
 */
export class StartLedger {
  readonly #begun = new Map<string, Amounts>();
  readonly #views = new Set<Map<string, Amounts>>();
  readonly #waiting = new Set<string>();
  readonly #looks: KeptLooks | undefined;
  #kept: Kept | undefined;
  #wake: (key: string) => void = () => undefined;

  /** Without `looks` every judgement looks anew. */
  constructor(looks?: KeptLooks) {
    this.#looks = looks;
  }

  /** Called with what waits for its turn as soon as there may be one. */
  onTurn(wake: (key: string) => void): void {
    this.#wake = wake;
  }

  /** Queues up for `onTurn`. */
  awaitTurn(key: string): void {
    this.#waiting.add(key);
  }

  /**
   * What is in the way of a start, by all that was under way at any moment of the look. If nothing is, it is under way itself until
   * `end` is called for it.
   */
  async begin<T, Obstacle>(
    { id, amounts }: Start,
    { look, judge }: Judgement<T, Obstacle>,
  ): Promise<Obstacle | undefined> {
    const kept = this.#keptLook();
    if (kept && judge(kept.found as T, kept.starting, this.#underWay()) === undefined) {
      this.#record(id, amounts);
      return undefined;
    }
    const starting = new Map(this.#begun);
    const sinceMs = this.#looks?.monotonicMs() ?? 0;
    this.#views.add(starting);
    try {
      const found = await look();
      if (this.#looks) this.#keep({ found, starting, sinceMs });
      const obstacle = judge(found, starting, this.#underWay());
      if (obstacle === undefined) this.#record(id, amounts);
      return obstacle;
    } finally {
      if (this.#kept?.starting !== starting) this.#views.delete(starting);
    }
  }

  end(id: string): void {
    if (!this.#begun.delete(id)) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#wake(next);
  }

  /** How many have begun and not ended. */
  get size(): number {
    return this.#begun.size;
  }

  #underWay(): ReadonlySet<string> {
    return new Set(this.#begun.keys());
  }

  #keptLook(): Kept | undefined {
    const { keepMs = 0, monotonicMs } = this.#looks ?? {};
    if (!this.#kept || !monotonicMs || monotonicMs() - this.#kept.sinceMs > keepMs) return undefined;
    return this.#kept;
  }

  /** Everything that begins from now on is added to it, too. */
  #keep(kept: Kept): void {
    if (this.#kept) this.#views.delete(this.#kept.starting);
    this.#kept = kept;
  }

  #record(id: string, amounts: Amounts): void {
    this.#begun.set(id, amounts);
    for (const view of this.#views) view.set(id, amounts);
  }
}
