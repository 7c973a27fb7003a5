import { resources } from '@sheaf/client';
import { register as registerCustomResource } from '@sheaf/features/custom-resource';
import {
  type PlantedFaults,
  register as registerGarbageCollection,
} from '@sheaf/features/garbage-collection';
import { register as registerNamespace } from '@sheaf/features/namespace';
import { register as registerServiceAccount } from '@sheaf/features/service-account';
import type { Manager } from '@sheaf/runtime';
import { MemoryStore } from '@sheaf/store';
import { type NetworkFaults, noFaults, Simulation, startTestServer, type TestServer } from '@sheaf/testkit';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { Users } from './actions.ts';
import { findComplaints } from './goals.ts';
import { customKinds, definitionOf, isWatched, namespaceNames } from './kinds.ts';
import { Ledger } from './ledger.ts';
import { Picture } from './picture.ts';
import { Safety } from './safety.ts';

/** How long the goal may take once faults have stopped; retries are at most a minute apart, kinds are awaited five minutes. */
const patienceMs = 15 * 60_000;
const stepLimit = 20_000;

/** One run of the control plane under random use and faults, decided by its seed. */
export async function runSchedule(options: ScheduleOptions): Promise<Outcome> {
  const schedule = new Schedule(options);
  try {
    return await schedule.run();
  } finally {
    await schedule.simulation.stop();
  }
}

class Schedule {
  readonly simulation: Simulation<TestServer>;
  readonly #options: ScheduleOptions;
  readonly #users: Users;
  readonly #ledger = new Ledger();
  readonly #safety: Safety;
  #restartsLeft = 3;

  constructor(options: ScheduleOptions) {
    const { seed, keepsTrace = false, logger } = options;
    this.#options = options;
    const store = new MemoryStore();
    this.simulation = new Simulation({
      seed,
      keepsTrace,
      open: (parts) => startTestServer({ ...parts, store }),
      register: (manager) => this.#register(manager),
      witness: (request) => this.#safety.watch(request),
      ...(logger ? { logger } : {}),
    });
    this.#users = new Users(this.simulation);
    this.#safety = new Safety(this.#ledger, () => this.simulation.server);
  }

  async run(): Promise<Outcome> {
    const { simulation } = this;
    await simulation.start();
    await this.#prepare();
    this.#ledger.follow(simulation.server);
    simulation.restartControllers();
    simulation.setFaults(this.#randomFaults());
    await this.#use(12 + simulation.random.integer(28));
    simulation.setFaults(noFaults);
    await this.#converge();
    if (this.#isGood()) {
      await this.#users.letAllGo();
      await this.#converge();
    }
    const { fingerprint, count, trace } = simulation.scheduler;
    return { seed: this.#options.seed, fingerprint, steps: count, complaints: this.#complaints(), trace };
  }

  #register(manager: Manager): void {
    const planted: PlantedFaults = Object.fromEntries(
      (this.#options.planted ?? []).map((name) => [name, true]),
    );
    registerNamespace(manager, { isEmptied: isWatched });
    registerServiceAccount(manager, { authority: 'pem', issueToken: () => Promise.resolve('token') });
    registerGarbageCollection(manager, { isMonitored: isWatched, planted, concurrency: 4 });
    registerCustomResource(manager);
  }

  async #prepare(): Promise<void> {
    const { client } = this.simulation.server;
    for (const name of namespaceNames.slice(0, 2))
      await client.create(resources.namespaces, { metadata: { name } });
    for (const kind of customKinds)
      if (this.simulation.random.integer(3) > 0)
        await client.create(resources.customResourceDefinitions, definitionOf(kind));
  }

  #randomFaults(): NetworkFaults {
    const { random } = this.simulation;
    const chance = (limit: number): number => (random.integer(2) === 0 ? 0 : random.integer(limit));
    return {
      ...noFaults,
      lostRequest: chance(60),
      lostAnswer: chance(60),
      duplicated: chance(60),
      refused: chance(60),
      brokenWatch: chance(80),
      expiredWatch: chance(30),
    };
  }

  async #use(actions: number): Promise<void> {
    const { random } = this.simulation;
    // How much happens between two actions of users differs from run to run.
    const pace = 4 + random.integer(30);
    for (let left = actions; left > 0 && this.#isGood(); ) {
      const choice = random.integer(pace);
      if (choice === 0) {
        await this.#users.act();
        await this.simulation.settle();
        left--;
      } else if (choice === 1 && random.integer(12) === 0) await this.#crash();
      else if (choice === 2 && random.integer(3) === 0) await this.#pass();
      else if (!(await this.simulation.step())) left--;
    }
  }

  async #pass(): Promise<void> {
    this.simulation.pass();
    await this.simulation.settle();
  }

  async #crash(): Promise<void> {
    const { simulation } = this;
    if (this.#restartsLeft-- <= 0) return;
    if (simulation.random.integer(3) > 0) return simulation.restartControllers();
    await simulation.restartServer();
    this.#ledger.follow(simulation.server);
  }

  /** Until the goal is reached, or its time is over. */
  async #converge(): Promise<void> {
    const { simulation } = this;
    const end = simulation.clock.monotonic() + patienceMs;
    const last = simulation.scheduler.count + stepLimit;
    while (this.#isGood() && simulation.scheduler.count < last) {
      const isQuiet = simulation.scheduler.choices === 0;
      if (isQuiet && (simulation.clock.monotonic() > end || this.#goalComplaints().length === 0)) return;
      if (!(await simulation.step())) return;
    }
  }

  #isGood(): boolean {
    return this.#safety.violations.length === 0;
  }

  #goalComplaints(): readonly string[] {
    return findComplaints(new Picture(this.simulation.server));
  }

  #complaints(): readonly string[] {
    return this.#isGood() ? this.#goalComplaints() : this.#safety.violations;
  }
}
