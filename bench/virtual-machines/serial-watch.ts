import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 2;
const limitMs = 120_000;

/** Resolves when a file contains the words. Both sides are looked at in the same way, so what it costs is on both. */
export async function untilPrinted(path: string, words: string): Promise<void> {
  const limit = performance.now() + limitMs;
  while (!textOf(path).includes(words)) {
    if (performance.now() > limit)
      throw new Error(`${path} does not say "${words}": ${textOf(path).slice(-500)}`);
    await delay(pollMs);
  }
}

/** Resolves when so many machines have printed the words since it was made. */
export class MachineWatch {
  readonly #machines: string;
  readonly #words: string;
  readonly #done = new Set<string>();

  constructor(machines: string, words: string) {
    this.#machines = machines;
    this.#words = words;
    this.#look();
  }

  async until(count: number): Promise<void> {
    const before = this.#done.size;
    const limit = performance.now() + limitMs;
    while (this.#done.size < before + count) {
      if (performance.now() > limit)
        throw new Error(`${this.#done.size - before} of ${count} machines have printed`);
      await delay(pollMs);
      this.#look();
    }
  }

  /** The processes of the machines that are there. */
  processes(): readonly number[] {
    return namesIn(this.#machines).flatMap((id) => {
      const pid = Number(textOf(join(this.#machines, id, 'machine.process')).split(' ')[0]);
      return pid > 0 ? [pid] : [];
    });
  }

  #look(): void {
    for (const id of namesIn(this.#machines))
      if (!this.#done.has(id) && textOf(join(this.#machines, id, 'serial.log')).includes(this.#words))
        this.#done.add(id);
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Empty for a file that is not there, which is cheaply found out: it is asked for all the time. */
function textOf(path: string): string {
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return '';
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
