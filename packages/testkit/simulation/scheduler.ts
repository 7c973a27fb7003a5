/** Something that may happen next. */
interface Step {
  readonly label: string;
  run(): void;
}

/** Steps of one lane happen in their order; lanes are independent of each other. */
interface Lane {
  readonly name: string;
  readonly steps: Step[];
  index: number;
}

/** Holds every asynchronous step until it is chosen, and remembers what was chosen. */
export class Scheduler {
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with steps, in no meaningful but in a determined order. */
  readonly #ready: Lane[] = [];
  readonly #trace: string[] = [];
  readonly #keepsTrace: boolean;
  #hash = 0x811c9dc5;
  #count = 0;

  /** `keepsTrace`: labels of all steps are kept for reading; the fingerprint is there in any case. */
  constructor(keepsTrace: boolean) {
    this.#keepsTrace = keepsTrace;
  }

  /** Lanes whose next step can be chosen. */
  get choices(): number {
    return this.#ready.length;
  }

  /** Steps taken so far. */
  get count(): number {
    return this.#count;
  }

  /** Equal for two runs exactly if they took the same steps. */
  get fingerprint(): string {
    return `${this.#count}:${(this.#hash >>> 0).toString(16).padStart(8, '0')}`;
  }

  get trace(): readonly string[] {
    return this.#trace;
  }

  add(laneName: string, label: string, run: () => void): void {
    let lane = this.#lanes.get(laneName);
    if (!lane) {
      lane = { name: laneName, steps: [], index: -1 };
      this.#lanes.set(laneName, lane);
    }
    lane.steps.push({ label, run });
    if (lane.index >= 0) return;
    lane.index = this.#ready.length;
    this.#ready.push(lane);
  }

  /** Takes the next step of the lane at `choice`. */
  take(choice: number): void {
    const lane = this.#ready[choice];
    const step = lane?.steps.shift();
    if (!lane || !step) throw new RangeError(`there is no lane ${choice}`);
    if (lane.steps.length === 0) this.#retire(lane);
    this.note(`${lane.name} ${step.label}`);
    step.run();
  }

  /** Forgets the steps of a lane. */
  drop(laneName: string): void {
    const lane = this.#lanes.get(laneName);
    if (!lane) return;
    lane.steps.length = 0;
    if (lane.index >= 0) this.#retire(lane);
  }

  /** Remembers something that happened outside of the lanes. */
  note(label: string): void {
    this.#count++;
    for (let index = 0; index < label.length; index++)
      this.#hash = Math.imul(this.#hash ^ label.charCodeAt(index), 0x01000193);
    if (this.#keepsTrace) this.#trace.push(label);
  }

  #retire(lane: Lane): void {
    const last = this.#ready.pop();
    if (last && last !== lane) {
      this.#ready[lane.index] = last;
      last.index = lane.index;
    }
    lane.index = -1;
    this.#lanes.delete(lane.name);
  }
}
