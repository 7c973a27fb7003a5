import type { Clock } from '@sheaf/base';

/** What a guest does to its machine. */
export interface GuestEffects {
  print(text: string): void;
  powerOff(): void;
  panic(): void;
  reset(): void;
  /** Lets go of all devices that are to leave. */
  letGo(): void;
}

const tickMs = 10;
const line = "a line of the guest's that is long enough to fill logs\n";

/** The guest that the contract suite of the hypervisor describes. It runs only while its processors do. */
export class SimulatedGuest {
  readonly #clock: Clock;
  readonly #effects: GuestEffects;
  #boots = 0;
  #ranMs = 0;
  /** When its processors began to run; `undefined` while they stand. */
  #runsSince: number | undefined;
  #isDeaf = false;
  #hangs = false;
  #typed: string[] = [];

  constructor(clock: Clock, effects: GuestEffects) {
    this.#clock = clock;
    this.#effects = effects;
  }

  get isRunning(): boolean {
    return this.#runsSince !== undefined;
  }

  run(): void {
    if (this.isRunning) return;
    this.#runsSince = this.#clock.monotonic();
    if (this.#boots === 0) this.boot();
    this.#react();
  }

  halt(): void {
    this.#ranMs = this.#ran();
    this.#runsSince = undefined;
  }

  boot(): void {
    this.#isDeaf = false;
    this.#hangs = false;
    this.#effects.print(`guest ready, boot ${++this.#boots}\n`);
  }

  type(keys: string): void {
    this.#typed.push(...keys.split(''));
    this.#react();
  }

  pressPowerButton(): void {
    if (this.isRunning && !this.#isDeaf && !this.#hangs) this.#effects.powerOff();
  }

  /** Goes on as another one would, on a clock that shows the same time. */
  takeOver(other: SimulatedGuest): void {
    this.#boots = other.#boots;
    this.#ranMs = other.#ranMs;
    this.#runsSince = other.#runsSince;
    this.#isDeaf = other.#isDeaf;
    this.#hangs = other.#hangs;
    this.#typed = [...other.#typed];
  }

  #ran(): number {
    return this.#ranMs + (this.#runsSince === undefined ? 0 : this.#clock.monotonic() - this.#runsSince);
  }

  #react(): void {
    while (this.isRunning && !this.#hangs) {
      const key = this.#typed.shift();
      if (key === undefined) return;
      this.#press(key);
    }
  }

  #press(key: string): void {
    const reactions: Readonly<Record<string, () => void>> = {
      Q: () => this.#effects.powerOff(),
      R: () => this.#effects.reset(),
      P: () => this.#effects.panic(),
      H: () => {
        this.#hangs = true;
      },
      D: () => {
        this.#isDeaf = true;
        this.#effects.print('deaf\n');
      },
      E: () => {
        this.#effects.letGo();
        this.#effects.print('let go\n');
      },
      L: () => this.#effects.print(line.repeat(Math.ceil(65_536 / line.length))),
      '?': () => this.#effects.print(`boots ${this.#boots} ticks ${Math.floor(this.#ran() / tickMs)}\n`),
    };
    const reaction = reactions[key];
    if (reaction) reaction();
    else this.#effects.print(key);
  }
}
