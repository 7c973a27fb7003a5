import { type Connection, connect } from '../client/connection.ts';
import type { Target } from '../client/kubeconfig.ts';

export interface SeenPod {
  readonly uid: string;
  readonly isRunning: boolean;
}

interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string; readonly uid: string };
    readonly status?: {
      readonly containerStatuses?: readonly { readonly state?: { readonly running?: object } }[];
    };
  };
}

type Claim = (pods: ReadonlyMap<string, SeenPod>) => boolean;

const limitMs = 60_000;

/** What a client sees of the pods of one namespace, by their names, as soon as it is told. */
export class PodWatch {
  readonly #connection: Connection;
  readonly #pods = new Map<string, SeenPod>();
  readonly #waiting = new Set<() => void>();
  #rest = '';

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static async open(target: Target, path: string): Promise<PodWatch> {
    const watch = new PodWatch(await connect(target, 'http/1.1'));
    await watch.#connection.stream({ method: 'GET', path: `${path}?watch=1` }, (chunk) => watch.#take(chunk));
    return watch;
  }

  find(name: string): SeenPod | undefined {
    return this.#pods.get(name);
  }

  /** Resolves when the claim is true of what was told. */
  async until(goal: string, claim: Claim): Promise<void> {
    if (claim(this.#pods)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (claim(this.#pods)) resolve();
    };
    const tell = (): void => reject(new Error(`${goal}: not in ${limitMs} ms; ${this.#words()}`));
    const timer = setTimeout(tell, limitMs);
    this.#waiting.add(look);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
  }

  close(): void {
    this.#connection.close();
  }

  #take(chunk: Buffer): void {
    const lines = `${this.#rest}${chunk.toString('utf8')}`.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#apply(JSON.parse(line) as WatchEvent);
    for (const look of this.#waiting) look();
  }

  #apply({ type, object }: WatchEvent): void {
    if (type === 'ERROR') throw new Error(`the watch of pods ended: ${JSON.stringify(object)}`);
    const { name, uid } = object.metadata;
    const statuses = object.status?.containerStatuses ?? [];
    const isRunning = statuses.length > 0 && statuses.every(({ state }) => state?.running !== undefined);
    if (type === 'DELETED') this.#pods.delete(name);
    else this.#pods.set(name, { uid, isRunning });
  }

  #words(): string {
    const all = [...this.#pods].map(
      ([name, { isRunning }]) => `${name} ${isRunning ? 'runs' : 'does not run'}`,
    );
    return all.length === 0 ? 'there are no pods' : all.join(', ');
  }
}
