import type { KubeObject } from '@sheaf/api';
import type { Clock, Logger, Random } from '@sheaf/base';
import { type Client, DiscoveryReader, type ResourceRef } from '@sheaf/client';
import { Controller, type ControllerOptions } from './controller.ts';
import { Informer, type Selection } from './informer.ts';

export interface ManagerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Something with a life of its own that the manager starts and ends: it has no queue, or many. */
export interface Runnable {
  /** Resolves when it is at work; must not wait for what needs the other runnables. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Owns the informers and controllers of a process: one informer for each resource, started before its users. */
export class Manager {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** What the server offers, read once for all controllers. */
  readonly discovery: DiscoveryReader;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #controllers: Controller[] = [];
  readonly #runnables: Runnable[] = [];
  #isStarted = false;

  constructor(options: ManagerOptions) {
    this.client = options.client;
    this.clock = options.clock;
    this.random = options.random;
    this.logger = options.logger;
    this.discovery = new DiscoveryReader(options.client);
  }

  get controllers(): readonly Controller[] {
    return this.#controllers;
  }

  /** The informer of a resource (or of a part of it), shared by all who ask for the same. */
  informer<T extends KubeObject>(resource: ResourceRef<T>, selection: Selection = {}): Informer<T> {
    const id = idOf(resource, selection);
    let informer = this.#informers.get(id);
    if (!informer) {
      informer = new Informer<KubeObject>(resource, { ...this.#parts(), selection });
      this.#informers.set(id, informer);
      if (this.#isStarted) informer.start();
    }
    return informer as unknown as Informer<T>;
  }

  /** Ends the informer of a resource that is not served any more. */
  async forget(resource: ResourceRef, selection: Selection = {}): Promise<void> {
    const id = idOf(resource, selection);
    const informer = this.#informers.get(id);
    this.#informers.delete(id);
    await informer?.stop();
  }

  #parts(): ManagerOptions {
    return { client: this.client, clock: this.clock, random: this.random, logger: this.logger };
  }

  add(runnable: Runnable): void {
    this.#runnables.push(runnable);
  }

  controller(options: Omit<ControllerOptions, 'clock' | 'logger'>): Controller {
    const controller = new Controller({ ...options, clock: this.clock, logger: this.logger });
    this.#controllers.push(controller);
    return controller;
  }

  /** Resolves when every controller is at work. */
  async start(): Promise<void> {
    this.#isStarted = true;
    for (const informer of this.#informers.values()) informer.start();
    await Promise.all([
      ...this.#controllers.map((controller) => controller.start()),
      ...this.#runnables.map((runnable) => runnable.start()),
    ]);
  }

  /** Ends all passes and watches. */
  async stop(): Promise<void> {
    for (const controller of this.#controllers) controller.dispose();
    await Promise.all(this.#runnables.map((runnable) => runnable.stop()));
    await Promise.all(this.#controllers.map((controller) => controller.stopped()));
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
  }
}

function idOf({ group, version, plural }: ResourceRef, selection: Selection): string {
  return `${group}/${version}/${plural} ${JSON.stringify(selection)}`;
}
