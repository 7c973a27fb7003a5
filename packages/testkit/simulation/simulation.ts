import { type Clock, DisposableStore, type Logger, type Random, silentLogger } from '@sheaf/base';
import { Client, type ClientRequest, type InProcessUser, type Transport } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom } from '../seeded-random.ts';
import { TestClock } from '../test-clock.ts';
import { IncarnationClock } from './incarnation-clock.ts';
import type { NearServer } from './near-server.ts';
import {
  type NetworkFaults,
  noFaults,
  type RequestTamper,
  type RequestWitness,
  SimulatedNetwork,
} from './network.ts';
import { Scheduler } from './scheduler.ts';

/** One life of an API server. */
export interface SimulatedServer {
  /** Acts at once, past the scheduler. */
  readonly client: Client;
  transportAs(user: InProcessUser): Transport;
  /** If it answers without waiting. */
  readonly near?: NearServer;
  /** The life is over; what is durable stays. */
  end(): void;
}

export interface SimulationOptions<S extends SimulatedServer> {
  readonly seed: number;
  /** Begins a life of the server, with what the last one left durable. */
  readonly open: (parts: { readonly clock: Clock; readonly random: Random }) => Promise<S>;
  /** Whether requests go to the server as values. */
  readonly carriesValues?: boolean;
  /** Registers the controllers of each life; what is added to `life` ends with it. */
  readonly register: (manager: Manager, life: DisposableStore) => void;
  readonly witness?: RequestWitness;
  /** For tests of tests: what becomes of a request of the controllers on its way. */
  readonly tamper?: RequestTamper;
  readonly keepsTrace?: boolean;
  readonly logger?: Logger;
}

const controllerUser: InProcessUser = {
  name: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
};

/**
 * A control plane in one thread: an API server, and controllers whose every request, answer, event
 * and timer waits until it is chosen. A seed decides the run.
 */
export class Simulation<S extends SimulatedServer> {
  readonly random: SeededRandom;
  readonly clock = new TestClock();
  readonly scheduler: Scheduler;
  readonly #options: SimulationOptions<S>;
  readonly #network: SimulatedNetwork;
  readonly #serverRandom: SeededRandom;
  #server: S | undefined;
  #serverClock: IncarnationClock | undefined;
  readonly #transports = new Map<InProcessUser, Transport>();
  #life = new DisposableStore();
  #lives = 0;

  constructor(options: SimulationOptions<S>) {
    this.#options = options;
    this.random = new SeededRandom(options.seed);
    this.#serverRandom = new SeededRandom(options.seed + 1);
    this.scheduler = new Scheduler(options.keepsTrace ?? false);
    this.#network = new SimulatedNetwork({
      scheduler: this.scheduler,
      random: this.random,
      transport: (user) => this.#transportAs(user),
      carriesValues: options.carriesValues ?? false,
      near: () => this.server.near,
      witness: options.witness ?? (() => undefined),
      tamper: options.tamper ?? ((request) => request),
    });
  }

  /** The server of now; its `client` acts at once, past the scheduler. */
  get server(): S {
    if (!this.#server) throw new Error('the simulation has not been started');
    return this.#server;
  }

  async start(): Promise<void> {
    await this.#startServer();
  }

  /** Whether a watch tells all that it has to tell in one step. */
  set tellsAllAtOnce(isAtOnce: boolean) {
    this.#network.tellsAllAtOnce = isAtOnce;
  }

  setFaults(faults: NetworkFaults): void {
    this.#network.faults = faults;
  }

  /** Which requests of controllers are answered at once, and are no steps. */
  set isAtOnce(isAtOnce: (request: ClientRequest) => boolean) {
    this.#network.isAtOnce = isAtOnce;
  }

  /** The controllers die between two steps, whatever they are about; new ones begin. */
  restartControllers(): void {
    this.scheduler.note('controllers restart');
    this.#life.dispose();
    this.#startControllers();
  }

  /** The whole control plane dies; the server reads again what was durable. */
  async restartServer(): Promise<void> {
    this.scheduler.note('server restarts');
    this.#life.dispose();
    this.#serverClock?.dispose();
    this.#server?.end();
    await this.#startServer();
    this.#startControllers();
  }

  /** Everything that needs no choice happens. */
  settle(): Promise<void> {
    // All work is made of microtasks; they are through before the next tick.
    return new Promise((resolve) => process.nextTick(resolve));
  }

  /** Takes one step: any of those that wait, or else time passes. False: nothing is left to happen. */
  async step(): Promise<boolean> {
    const { choices } = this.scheduler;
    if (choices > 0) this.scheduler.take(this.random.integer(choices));
    else if (!this.pass()) return false;
    await this.settle();
    return true;
  }

  /** Time passes until the next timer. False: there is none. */
  pass(): boolean {
    const due = this.clock.nextDueMs;
    if (due === undefined) return false;
    this.scheduler.note(`${due} ms pass`);
    this.clock.advance(due);
    return true;
  }

  async stop(): Promise<void> {
    this.#network.faults = noFaults;
    this.#life.dispose();
    this.#serverClock?.dispose();
    this.#server?.end();
    await this.settle();
  }

  async #startServer(): Promise<void> {
    this.#serverClock = new IncarnationClock(this.clock);
    this.#server = await this.#options.open({ clock: this.#serverClock, random: this.#serverRandom });
    this.#transports.clear();
  }

  /** Made once for each life of the server. */
  #transportAs(user: InProcessUser): Transport {
    let transport = this.#transports.get(user);
    if (!transport) {
      transport = this.server.transportAs(user);
      this.#transports.set(user, transport);
    }
    return transport;
  }

  #startControllers(): void {
    const life = new DisposableStore();
    this.#life = life;
    const clock = life.add(new IncarnationClock(this.clock));
    const transport = this.#network.transport(`life${++this.#lives}`, controllerUser);
    life.add({ dispose: () => transport.close() });
    const client = new Client({ transport, userAgent: 'controllers' });
    const random = new SeededRandom(this.random.integer(2 ** 31));
    const logger = this.#options.logger ?? silentLogger;
    const manager = new Manager({ client, clock, random, logger });
    this.#options.register(manager, life);
    void manager.start();
  }
}
