import type { KubeObject } from '@sheaf/api';
import { type Clock, type Logger, StatusError, sleep, toError } from '@sheaf/base';
import type { Client, ObjectRef, ResourceRef } from '@sheaf/client';

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  /** MicroTime. */
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

export const leases: ResourceRef<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

export interface LeaderElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: ObjectRef;
  /** Unique among the candidates. */
  readonly identity: string;
  /** How long others wait after the last renewal that they have seen. Milliseconds. */
  readonly leaseDurationMs?: number;
  /** A leader that could not renew for this long gives up; shorter than the lease. */
  readonly renewDeadlineMs?: number;
  readonly retryMs?: number;
  /** Does the leader's work; the signal aborts when leadership ends. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
}

/** What a candidate has seen of the lease, and when, on its own monotonic clock: others' clocks do not matter. */
interface Observation {
  readonly version: string;
  readonly holder: string;
  readonly at: number;
}

/** Lets one of several processes lead, by holding a Lease. Two never lead at once as long as their clocks run at about the same speed. */
export class LeaderElection {
  readonly #options: Required<LeaderElectionOptions>;
  #observed: Observation | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000, ...options };
  }

  /** Stands for election again and again until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.#tryToHold()) await this.#lead(signal);
      else await this.#pause(signal);
    }
    await this.#release();
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { clock, logger, renewDeadlineMs, lead, identity } = this.#options;
    logger.info('leading', { lease: this.#options.lease.name, identity });
    const term = new AbortController();
    const work = lead(AbortSignal.any([term.signal, signal])).catch((error: unknown) => {
      if (!term.signal.aborted) logger.error("the leader's work failed", { cause: toError(error) });
      term.abort(toError(error));
    });
    let renewedAt = clock.monotonic();
    while (!signal.aborted && !term.signal.aborted && clock.monotonic() - renewedAt < renewDeadlineMs) {
      await this.#pause(signal);
      if (await this.#tryToHold()) renewedAt = clock.monotonic();
      else if (this.#observed?.holder !== identity) break;
    }
    term.abort(new Error('leadership ended'));
    await work;
    logger.info('not leading any more', { lease: this.#options.lease.name, identity });
  }

  /** Takes or renews the lease. False: somebody else holds it, or the server could not be asked. */
  async #tryToHold(): Promise<boolean> {
    const { client, lease, logger } = this.#options;
    try {
      const current = await client.find(leases, lease);
      if (!current) return await this.#create();
      this.#observe(current);
      if (!this.#mayTake(current)) return false;
      this.#observe(await client.update(leases, { ...current, spec: this.#nextSpec(current) }));
      return true;
    } catch (error) {
      const isRace = StatusError.is(error, 'Conflict') || StatusError.is(error, 'AlreadyExists');
      if (!isRace)
        logger.warn('the lease could not be asked for', { lease: lease.name, cause: toError(error) });
      return false;
    }
  }

  async #create(): Promise<boolean> {
    const { client, lease } = this.#options;
    this.#observe(await client.create(leases, { metadata: { ...lease }, spec: this.#nextSpec(undefined) }));
    return true;
  }

  #observe(lease: Lease): void {
    const version = lease.metadata.resourceVersion ?? '';
    if (this.#observed?.version === version) return;
    this.#observed = {
      version,
      holder: lease.spec?.holderIdentity ?? '',
      at: this.#options.clock.monotonic(),
    };
  }

  #mayTake({ spec = {} }: Lease): boolean {
    const { identity, clock, leaseDurationMs } = this.#options;
    if (!spec.holderIdentity || spec.holderIdentity === identity) return true;
    const durationMs =
      spec.leaseDurationSeconds === undefined ? leaseDurationMs : spec.leaseDurationSeconds * 1000;
    return clock.monotonic() - (this.#observed?.at ?? Number.POSITIVE_INFINITY) > durationMs;
  }

  #nextSpec(current: Lease | undefined): LeaseSpec {
    const { identity, clock, leaseDurationMs } = this.#options;
    const now = microTime(clock);
    const old = current?.spec ?? {};
    const isMine = old.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: isMine ? (old.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (old.leaseTransitions ?? 0) + (isMine || !current ? 0 : 1),
    };
  }

  /** Gives the lease back, so that the next one need not wait. */
  async #release(): Promise<void> {
    const { client, lease, identity } = this.#options;
    try {
      const current = await client.find(leases, lease);
      if (current?.spec?.holderIdentity !== identity) return;
      await client.update(leases, { ...current, spec: { ...current.spec, holderIdentity: '' } });
    } catch (error) {
      this.#options.logger.debug('the lease was not given back', {
        lease: lease.name,
        cause: toError(error),
      });
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    // Stopping ends the pause; the loops see it.
    await sleep(this.#options.clock, this.#options.retryMs, signal).catch(() => undefined);
  }
}

/** RFC 3339 with six decimals, as `metav1.MicroTime`. */
function microTime(clock: Clock): string {
  return `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`;
}
