import { isLongRunning } from './long-running.ts';
import type { RequestContext } from './request-context.ts';

export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
}

export const usualInFlightLimits: InFlightLimits = { readOnly: 400, mutating: 200 };

export type InFlightKind = 'readOnly' | 'mutating';

const readVerbs = new Set(['get', 'list', 'watch', 'head', 'options']);
const neverRefused = new Set(['leases', 'leasecandidates']);
const healthPaths = /^\/(livez|readyz|healthz)(\/|$)/;

/**
 * Bounds the short requests that are worked on at once. Streams, health checks, leader election, administrators and the
 * server's own controllers are never refused: they are what brings a crowded server back.
 */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #current: Record<InFlightKind, number> = { readOnly: 0, mutating: 0 };
  #refused = 0;

  constructor(limits: InFlightLimits = usualInFlightLimits) {
    this.#limits = limits;
  }

  get current(): Readonly<Record<InFlightKind, number>> {
    return this.#current;
  }

  /** How many have been refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** `undefined`: the request does not count. */
  kindOf(context: RequestContext): InFlightKind | undefined {
    const { info, request, user } = context;
    if (request.trustedUser || user.groups.includes('system:masters')) return undefined;
    if (isLongRunning(request)) return undefined;
    if (info.isResource ? neverRefused.has(info.resource) : healthPaths.test(info.path)) return undefined;
    return readVerbs.has(info.verb) ? 'readOnly' : 'mutating';
  }

  /** Takes a place, which must be given back with `leave`; false: there is none. */
  tryEnter(kind: InFlightKind): boolean {
    if (this.#current[kind] >= this.#limits[kind]) {
      this.#refused++;
      return false;
    }
    this.#current[kind]++;
    return true;
  }

  leave(kind: InFlightKind): void {
    this.#current[kind]--;
  }
}
