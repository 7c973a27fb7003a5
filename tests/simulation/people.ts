import type { KubeObject } from '@sheaf/api';
import { StatusError, toError } from '@sheaf/base';
import { type Client, type ResourceRef, refOf } from '@sheaf/client';
import type { Simulation } from '@sheaf/testkit';
import type { KeptServer } from './kept-servers.ts';
import { isDeleting, type Objects } from './objects.ts';
import { drawWeighted } from './weighted.ts';

/** How often it is done beside others, what it is, and how. */
export type Action<U> = readonly [weight: number, name: string, act: (users: U) => Promise<unknown>];

/** Refusals, and what a server says that is busy or whose drivers have died. */
export const foundCodes: ReadonlySet<number> = new Set([400, 403, 404, 405, 409, 422, 500, 503, 504]);

export interface PeopleParts {
  readonly simulation: Simulation<KeptServer>;
  readonly objects: Objects;
}

/** People and programs that use the API while the controllers work: at once, and past the scheduler. They take refusals as they come. */
export class People {
  /** What nobody should ever be told. */
  readonly shocks: string[] = [];
  protected readonly simulation: Simulation<KeptServer>;
  protected readonly objects: Objects;

  constructor({ simulation, objects }: PeopleParts) {
    this.simulation = simulation;
    this.objects = objects;
  }

  protected get client(): Client {
    return this.simulation.server.client;
  }

  /** One of the actions; what it has to wait for goes on by itself. */
  protected actAs<U>(users: U, actions: readonly Action<U>[]): void {
    const [, name, act] = drawWeighted(this.simulation.random, actions);
    this.perform(name, () => act(users));
  }

  protected perform(name: string, action: () => Promise<unknown>): void {
    this.simulation.scheduler.note(`user: ${name}`);
    action().catch((error: unknown) => {
      if (!StatusError.is(error) || !foundCodes.has(error.code))
        this.shocks.push(`${name}: ${toError(error).message}`);
    });
  }

  /** Everything of the kinds is to go; what is refused now is asked again by the next call. */
  protected deleteAll(kinds: readonly ResourceRef[]): void {
    for (const resource of kinds)
      for (const object of this.objects.all(resource))
        if (!isDeleting(object))
          this.perform(`delete ${resource.plural} ${object.metadata.name}`, () =>
            this.client.delete(resource, refOf(object)),
          );
  }

  protected some<T extends KubeObject>(resource: ResourceRef<T>): T | undefined {
    const all = this.objects.all(resource);
    return all.length === 0 ? undefined : this.pick(all);
  }

  protected below(limit: number): number {
    return this.simulation.random.integer(limit);
  }

  protected pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
