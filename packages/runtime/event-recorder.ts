import { toApiVersion } from '@sheaf/api';
import { type Clock, type Logger, type Random, toError } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Who says so. */
  readonly component: string;
}

export interface RecordedEvent {
  readonly about: {
    readonly resource: ResourceRef;
    /** Empty at cluster scope. */
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly type: 'Normal' | 'Warning';
  /** PascalCase. */
  readonly reason: string;
  readonly message: string;
}

interface Known {
  readonly namespace: string;
  readonly name: string;
  count: number;
  readonly untilMs: number;
}

/** The same event again within this time is counted, not made anew. */
const sameMs = 10 * 60_000;
const knownLimit = 4096;
const messageLimit = 1024;

/** Tells users of an object what happened to it, as Event objects. Never fails and is never waited for. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(event: RecordedEvent): void {
    const { clock, logger } = this.#options;
    const key = `${event.about.uid} ${event.type} ${event.reason} ${event.message}`;
    const known = this.#known.get(key);
    const written =
      known && known.untilMs > clock.monotonic() ? this.#count(known) : this.#create(key, event);
    written.catch((error: unknown) =>
      logger.debug('an event could not be written', { reason: event.reason, cause: toError(error) }),
    );
  }

  async #create(key: string, { about, type, reason, message }: RecordedEvent): Promise<void> {
    const { client, clock, random, component } = this.#options;
    const namespace = about.namespace || 'default';
    const name = `${about.name}.${Buffer.from(random.bytes(8)).toString('hex')}`;
    if (this.#known.size >= knownLimit) this.#known.clear();
    this.#known.set(key, { namespace, name, count: 1, untilMs: clock.monotonic() + sameMs });
    const time = this.#time();
    const { group, version, kind } = about.resource;
    await client.create(resources.events, {
      metadata: { namespace, name },
      involvedObject: {
        apiVersion: toApiVersion(group, version),
        kind,
        name: about.name,
        ...(about.namespace ? { namespace: about.namespace } : {}),
        uid: about.uid,
      },
      type,
      reason,
      message: message.slice(0, messageLimit),
      source: { component },
      reportingComponent: component,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    });
  }

  async #count(known: Known): Promise<void> {
    known.count++;
    const { namespace, name, count } = known;
    const body = { count, lastTimestamp: this.#time() };
    await this.#options.client.patch(resources.events, { namespace, name }, { type: 'merge', body });
  }

  #time(): string {
    return `${new Date(this.#options.clock.now()).toISOString().slice(0, 19)}Z`;
  }
}
