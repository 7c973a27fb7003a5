/**
 * Kills a whole Sheaf while it makes, starts, stops, plugs, keeps, copies, grows and removes real machines, and looks each time,
 * once it is back, whether everything that was asked for comes to its end, no disk is lost or shared, machines that nobody touched ran
 * on, and no process or file is left that nobody owns. `node tests/faults/machines/kill.ts 50` kills it fifty times; a second
 * argument is the seed.
 */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { SeededRandom } from '@sheaf/testkit/seeded-random';
import { checkLayers } from '../../../packages/drivers/local-disk/local-disk.fixture.ts';
import { eventually, Installation } from '../../e2e/installation.ts';
import { askGuest, importTinyImage, type TinyImage } from '../../e2e/tiny-machines.ts';
import { runProgram } from '../../program.ts';
import { type Deed, type DeedKind, deedKinds, makeDeed } from './deeds.ts';
import { Expectation } from './expectation.ts';
import { findings } from './findings.ts';
import { removalPath } from './machine-disks.ts';

export interface MachineKillSummary {
  readonly seed: number;
  /** While something was being done. */
  readonly kills: number;
  /** While it started again after that. */
  readonly earlyKills: number;
  /** Killed before it had answered. */
  readonly unanswered: number;
  readonly deeds: Partial<Record<DeedKind, number>>;
  /** How often a guest told whose its disk is, and how often that was booted. */
  readonly guestsAsked: number;
  readonly seconds: number;
}

const launcher = fileURLToPath(new URL('../../../scripts/sheaf.sh', import.meta.url));

/** Ends early, with everything that it has started, when `signal` says so. @throws Error as soon as a round finds something wrong */
export async function runMachineKills(
  kills: number,
  seed: number,
  signal?: AbortSignal,
): Promise<MachineKillSummary> {
  const sheaf = await Installation.make('kubectl');
  try {
    await sheaf.start();
    const run = new Run(sheaf, await importTinyImage(sheaf), seed);
    await run.prepare();
    for (let round = 0; round < kills && signal?.aborted !== true; round++) await run.round();
    await run.finish();
    return run.summary();
  } finally {
    await sheaf.remove();
  }
}

class Run {
  readonly #sheaf: Installation;
  readonly #image: TinyImage;
  readonly #seed: number;
  readonly #random: SeededRandom;
  readonly #expectation = new Expectation();
  readonly #began = performance.now();
  readonly #deeds: Partial<Record<DeedKind, number>> = {};
  readonly #uuids = new Map<string, string>();
  #number = 0;
  #turn = 0;
  #kills = 0;
  #earlyKills = 0;
  #unanswered = 0;
  #guestsAsked = 0;

  constructor(sheaf: Installation, image: TinyImage, seed: number) {
    this.#sheaf = sheaf;
    this.#image = image;
    this.#seed = seed;
    this.#random = new SeededRandom(seed);
  }

  /** Two machines that nobody kills Sheaf for, so that every deed has something that it can be done to. */
  async prepare(): Promise<void> {
    for (const kind of ['create', 'create', 'stop', 'create'] as const) {
      const deed = this.#make(kind);
      assert.ok(deed);
      await deed.begin(await this.#sheaf.client());
      deed.apply(this.#expectation);
      await this.#settle();
      await this.#askGuests();
    }
  }

  async round(): Promise<void> {
    const deed = this.#next();
    try {
      await this.#killWhile(deed);
      deed.apply(this.#expectation);
      this.#deeds[deed.kind] = (this.#deeds[deed.kind] ?? 0) + 1;
      await this.#settle();
      await this.#askGuests();
      if (this.#kills % 5 === 0) await checkLayers(join(this.#sheaf.directory, 'volumes'));
    } catch (error) {
      const where = `seed ${this.#seed}, kill ${this.#kills}, ${deed.kind} ${deed.subject}`;
      throw new Error(`${where}: ${toError(error).message}`, { cause: error });
    }
  }

  async #killWhile(deed: Deed): Promise<void> {
    const answered = deed.begin(await this.#sheaf.client()).then(
      () => true,
      (error: unknown) => {
        if (StatusError.is(error)) throw error;
        return false;
      },
    );
    const isSoon = this.#random.integer(3) === 0;
    await pause(this.#random.integer(isSoon ? 60 : 900));
    await this.#sheaf.kill();
    this.#kills++;
    const isAnswered = await answered;
    if (this.#random.integer(4) === 0) await this.#startAndKill();
    await this.#sheaf.start();
    if (isAnswered) return;
    this.#unanswered++;
    await deed.begin(await this.#sheaf.client());
  }

  /** Everything is removed: nothing may be left. */
  async finish(): Promise<void> {
    const client = await this.#sheaf.client();
    for (const name of this.#expectation.snapshots.keys())
      await client.delete(resources.virtualMachineBackups, { namespace: 'default', name });
    this.#expectation.snapshots.clear();
    await this.#settle();
    await removeAll(client);
    this.#expectation.machines.clear();
    await this.#settle();
    await client.delete(resources.virtualMachineImages, { namespace: 'default', name: 'tiny' });
    const folders = ['volumes', 'images', 'snapshots', 'layers', 'incoming', 'work'];
    const left = async (): Promise<readonly string[]> =>
      (
        await Promise.all(folders.map((name) => readdir(join(this.#sheaf.directory, 'volumes', name))))
      ).flat();
    await eventually(async () => (await left()).length === 0, { goal: 'no file is left' });
  }

  summary(): MachineKillSummary {
    return {
      seed: this.#seed,
      kills: this.#kills,
      earlyKills: this.#earlyKills,
      unanswered: this.#unanswered,
      deeds: this.#deeds,
      guestsAsked: this.#guestsAsked,
      seconds: Math.round((performance.now() - this.#began) / 1000),
    };
  }

  /** The next in turn that can be done. */
  #next(): Deed {
    for (;;) {
      const kind = deedKinds[this.#turn++ % deedKinds.length] ?? 'create';
      const deed = this.#make(kind);
      if (deed) return deed;
    }
  }

  #make(kind: DeedKind): Deed | undefined {
    const [expectation, image, random] = [this.#expectation, this.#image, this.#random];
    return makeDeed(kind, { expectation, image, random, number: this.#number++ });
  }

  async #startAndKill(): Promise<void> {
    this.#earlyKills++;
    const args = [launcher, 'up', '--data-dir', this.#sheaf.directory, '--listen', '127.0.0.1:0'];
    const env = { SHEAF_NODE: process.execPath };
    await runProgram('sh', args, { env, timeout: 200 + this.#random.integer(1300) });
  }

  async #settle(): Promise<void> {
    const client = await this.#sheaf.client();
    const scene = { client, directory: this.#sheaf.directory, expectation: this.#expectation };
    let found: readonly string[] = [];
    await eventually(
      async () => {
        found = await findings(scene);
        return found.length === 0;
      },
      { goal: 'everything is as it should be' },
      () => found.join('\n'),
    );
  }

  async #askGuests(): Promise<void> {
    const client = await this.#sheaf.client();
    for (const name of this.#expectation.namesOf(({ runs }) => runs)) {
      const { boots, diskOf, machine } = await askGuest(client, name);
      this.#guestsAsked++;
      this.#uuids.set(name, machine);
      const expected = this.#expectation.machines.get(name);
      const owner = expected?.diskOf === undefined ? machine : this.#uuids.get(expected.diskOf);
      assert.deepEqual({ name, boots, diskOf }, { name, boots: expected?.boots, diskOf: owner });
    }
  }
}

async function removeAll(client: Client): Promise<void> {
  const namespace = 'default';
  const { items } = await client.list(resources.virtualMachines, { namespace });
  for (const target of items.map(removalPath)) {
    const { status } = await client.send({ method: 'DELETE', target });
    assert.ok(status < 300, `${target}: ${status}`);
  }
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const [kills = '50', seed = '1'] = process.argv.slice(2);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const summary = await runMachineKills(Number(kills), Number(seed), stop.signal);
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}
