/**
 * Kills Sheaf, Helm and the pod of an operation while an add-on is enabled, updated and disabled, with the real Helm and real
 * containers, and looks each time whether it comes to what was asked for, and whether anything is left.
 * `node tests/faults/addons/kill.ts 180` kills twenty times for each of the nine; a second argument is the seed.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { SeededRandom } from '@sheaf/testkit/seeded-random';
import { AddonHost } from '../../addons/addon-host.ts';
import { findingsOff, findingsOn, name } from './findings.ts';
import { operationProcesses } from './operation-processes.ts';
import { shoot, type Victim, victims } from './victims.ts';

export interface AddonKillSummary {
  readonly seed: number;
  readonly kills: number;
  /** Kills of each victim in each deed: `update helm`. */
  readonly counts: Readonly<Record<string, number>>;
  /** What was hit, more exactly. */
  readonly hits: Readonly<Record<string, number>>;
  /** Deeds that were over before there was anything to kill; they are done again. */
  readonly missed: number;
  /** From when to when somebody is at work for each deed without a kill, since it was asked for; moments are chosen within that. */
  readonly windowsMs: Readonly<Record<Deed, Window>>;
}

type Window = readonly [from: number, to: number];

type Deed = 'enable' | 'update' | 'disable';

const lookMs = 20;
const deeds: readonly Deed[] = ['enable', 'update', 'disable'];

/** @throws Error as soon as a round finds something wrong */
export async function runAddonKills(
  kills: number,
  seed: number,
  tell: (line: string) => void = () => undefined,
): Promise<AddonKillSummary> {
  let summary: AddonKillSummary | undefined;
  await AddonHost.run(async (host) => {
    const run = new Run(host, seed);
    await run.measure();
    while (run.kills < kills) {
      await run.round();
      tell(JSON.stringify(run.summary()));
    }
    await run.finish();
    summary = run.summary();
  });
  assert.ok(summary);
  return summary;
}

/** From when to when anything of an operation is at work on the host, counted from now. */
async function windowOf(directory: string, isOver: () => boolean): Promise<Window> {
  const begun = performance.now();
  const seen: number[] = [];
  while (!isOver()) {
    if ((await operationProcesses(directory)).length > 0) seen.push(Math.round(performance.now() - begun));
    await pause(lookMs);
  }
  return [seen[0] ?? 0, seen.at(-1) ?? 0];
}

class Run {
  readonly #host: AddonHost;
  readonly #seed: number;
  readonly #random: SeededRandom;
  readonly #counts: Record<string, number> = {};
  readonly #hits: Record<string, number> = {};
  readonly #windowsMs: Record<Deed, Window> = { enable: [0, 0], update: [0, 0], disable: [0, 0] };
  #missed = 0;
  #rounds = 0;
  #text = 'first';

  constructor(host: AddonHost, seed: number) {
    this.#host = host;
    this.#seed = seed;
    this.#random = new SeededRandom(seed);
  }

  get kills(): number {
    return Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
  }

  /** Once each, in peace. What comes first takes longer, so that everything is done before. */
  async measure(): Promise<void> {
    await this.#host.make(name);
    for (let time = 0; time < 2; time++)
      for (const deed of deeds) {
        let isOver = false;
        const window = windowOf(this.#host.directory, () => isOver);
        await this.#ask(deed);
        await this.#settled(deed);
        isOver = true;
        this.#windowsMs[deed] = await window;
      }
  }

  /** One deed, a kill in the middle of it, and what becomes of it. Where nothing was hit, the next round of the same is another try. */
  async round(): Promise<void> {
    const deed = deeds[this.#rounds % deeds.length] ?? 'enable';
    const victim = this.#victimFor(deed);
    this.#rounds++;
    const [from, to] = this.#windowsMs[deed];
    // Sheaf works before and after the others.
    const moment =
      victim === 'sheaf' ? this.#random.integer(to + from) : from + this.#random.integer(to - from);
    const way = this.#random.integer(4);
    let isOver = false;
    // Sheaf may be gone before it has answered.
    const asked = this.#ask(deed).catch(() => undefined);
    await pause(moment);
    const watched = victim === 'sheaf' ? undefined : this.#settled(deed).finally(() => (isOver = true));
    const hit = await shoot(this.#host, { victim, way, isOver: () => isOver });
    await asked;
    if (victim === 'sheaf') {
      await this.#host.start();
      // Nobody has said that it was taken.
      await this.#ask(deed);
    }
    await (watched ?? this.#settled(deed));
    if (hit === undefined) this.#missed++;
    else {
      const key = `${deed} ${victim}`;
      this.#counts[key] = (this.#counts[key] ?? 0) + 1;
      this.#hits[hit] = (this.#hits[hit] ?? 0) + 1;
    }
  }

  /** Switched off in peace, nothing is left. */
  async finish(): Promise<void> {
    await this.#ask('disable');
    await this.#settled('disable');
  }

  summary(): AddonKillSummary {
    return {
      seed: this.#seed,
      kills: this.kills,
      counts: this.#counts,
      hits: this.#hits,
      missed: this.#missed,
      windowsMs: this.#windowsMs,
    };
  }

  /** The one that was killed least in this deed; deeds begin with different ones. */
  #victimFor(deed: Deed): Victim {
    const first = deeds.indexOf(deed);
    const turned = victims.map((_, index) => victims[(index + first) % victims.length] ?? 'sheaf');
    const countOf = (victim: Victim): number => this.#counts[`${deed} ${victim}`] ?? 0;
    return turned.reduce((least, each) => (countOf(each) < countOf(least) ? each : least));
  }

  async #ask(deed: Deed): Promise<void> {
    if (deed === 'enable') this.#text = 'first';
    if (deed === 'update') this.#text = `text${this.#rounds}`;
    await this.#host.change(name, {
      enabled: deed !== 'disable',
      ...(deed === 'disable' ? {} : { valuesContent: `text: ${this.#text}` }),
    });
  }

  async #settled(deed: Deed): Promise<void> {
    let found: readonly string[] = [];
    await this.#host
      .until(`${deed} comes to its end`, async () => {
        found = await (deed === 'disable' ? findingsOff(this.#host) : findingsOn(this.#host, this.#text));
        return found.length === 0;
      })
      .catch((error: unknown) => {
        throw new Error(`${found.join('\n')}\n${JSON.stringify(this.summary())}`, { cause: error });
      });
  }
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const [kills = '180', seed = '1'] = process.argv.slice(2);
  await runAddonKills(Number(kills), Number(seed), (line) => process.stderr.write(`${line}\n`));
}
