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

/** For how long a look may say yes to further starts. Machines that have ended meanwhile still count in it. Many that ask at once share one. */
export interface KeptLooks {
  readonly keepMs: number;
  readonly monotonicMs: () => number;
}

interface Look {
  readonly found: unknown;
  /** All that may be missing in what was found. */
  readonly starting: Map<string, Amounts>;
  /** When it began. */
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
  #kept: Look | undefined;
  #looking: Promise<Look> | undefined;
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
   * `end` is called for it. A look that began before the call may only say yes; one that has begun since is shared.
   */
  async begin<T, Obstacle>(
    start: Start,
    { look, judge }: Judgement<T, Obstacle>,
  ): Promise<Obstacle | undefined> {
    const judged = ({ found, starting }: Look): Obstacle | undefined => {
      const obstacle = judge(found as T, starting, this.#underWay());
      if (obstacle === undefined) this.#record(start);
      return obstacle;
    };
    const kept = this.#keptLook();
    if (kept && judged(kept) === undefined) return undefined;
    const earlier = await this.#earlierLook();
    if (earlier && judged(earlier) === undefined) return undefined;
    return await this.#lookAndJudge(look, judged);
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

  #keptLook(): Look | undefined {
    const { keepMs = 0, monotonicMs } = this.#looks ?? {};
    if (!this.#kept || !monotonicMs || monotonicMs() - this.#kept.sinceMs > keepMs) return undefined;
    return this.#kept;
  }

  /** The one that is being looked at now, if nothing newer has come to be known until it is over. */
  async #earlierLook(): Promise<Look | undefined> {
    // Who began it is told of its failure.
    const look = await this.#looking?.catch(() => undefined);
    return look && this.#views.has(look.starting) ? look : undefined;
  }

  /** By a look that begins now, or has been begun by another in the meantime. */
  async #lookAndJudge<T, Obstacle>(
    look: () => Promise<T>,
    judged: (look: Look) => Obstacle | undefined,
  ): Promise<Obstacle | undefined> {
    while (this.#looking) {
      const shared = await this.#earlierLook();
      if (shared) return judged(shared);
    }
    const looking = this.#look(look);
    if (this.#looks) this.#looking = looking;
    try {
      const own = await looking;
      const obstacle = judged(own);
      if (!this.#looks) this.#views.delete(own.starting);
      return obstacle;
    } finally {
      if (this.#looking === looking) this.#looking = undefined;
    }
  }

  async #look<T>(look: () => Promise<T>): Promise<Look> {
    const starting = new Map(this.#begun);
    const sinceMs = this.#looks?.monotonicMs() ?? 0;
    this.#views.add(starting);
    try {
      const seen = { found: await look(), starting, sinceMs };
      if (this.#looks) this.#keep(seen);
      return seen;
    } catch (error) {
      this.#views.delete(starting);
      throw error;
    }
  }

  /** Everything that begins from now on is added to it, too. */
  #keep(kept: Look): void {
    if (this.#kept) this.#views.delete(this.#kept.starting);
    this.#kept = kept;
  }

  #record({ id, amounts }: Start): void {
    this.#begun.set(id, amounts);
    for (const view of this.#views) view.set(id, amounts);
  }
}
