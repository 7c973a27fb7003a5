import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Clock, type Disposable, sleep } from '@sheaf/base';

const connector = fileURLToPath(new URL('./port-connector.ts', import.meta.url));
/** One that nobody has asked for so long ends. */
const idleMs = 5000;

interface Answer {
  readonly id: number;
  readonly isConnected: boolean;
  readonly words?: string;
}

interface Waiting {
  resolve(socket: Socket): void;
  reject(error: Error): void;
}

export interface ConnectorOptions {
  readonly clock: Clock;
  /** What a connection may take. */
  readonly limitMs: number;
}

/** A process in each network into which connections are made now: one for all connections, as long as there are some. */
export class PortConnectors implements Disposable {
  readonly #options: ConnectorOptions;
  readonly #connectors = new Map<string, Connector>();

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  /** To `localhost` as it is in the network. @throws Error in the words of what failed */
  async connect(networkPath: string, port: number): Promise<Socket> {
    let found = this.#connectors.get(networkPath);
    if (!found) {
      found = new Connector(networkPath, this.#options, () => this.#connectors.delete(networkPath));
      this.#connectors.set(networkPath, found);
    }
    return await found.connect(port);
  }

  /** Those that are not at it: their networks may be about to go. */
  letGoIdle(): void {
    for (const each of [...this.#connectors.values()]) if (each.isIdle) each.dispose();
  }

  dispose(): void {
    for (const each of [...this.#connectors.values()]) each.dispose();
  }
}

class Connector implements Disposable {
  readonly #options: ConnectorOptions;
  readonly #child: ChildProcess;
  readonly #onEnd: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #idle: Disposable | undefined;
  #lastId = 0;
  #words = '';

  constructor(networkPath: string, options: ConnectorOptions, onEnd: () => void) {
    this.#options = options;
    this.#onEnd = onEnd;
    this.#child = spawn('nsenter', [`--net=${networkPath}`, process.execPath, connector], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      this.#words = `${this.#words}${bytes.toString()}`.slice(0, 1000);
    });
    this.#child.on('message', (message, handle) => this.#take(message as Answer, handle));
    this.#child.once('error', (error) => this.#end(error));
    this.#child.once('close', () =>
      this.#end(new Error(this.#words.trim().split('\n')[0] || 'it was ended')),
    );
    // Nobody waits for it to end.
    this.#child.unref();
    this.#child.channel?.unref();
    if (this.#child.stderr instanceof Socket) this.#child.stderr.unref();
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  async connect(port: number): Promise<Socket> {
    const id = ++this.#lastId;
    this.#idle?.dispose();
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const limit = new AbortController();
    this.#waiting.set(id, { resolve, reject });
    void this.#limit(id, limit.signal);
    this.#child.send({ id, port }, (error) => error && this.#waiting.get(id)?.reject(error));
    try {
      return await promise;
    } finally {
      limit.abort();
      this.#waiting.delete(id);
      this.#rest();
    }
  }

  dispose(): void {
    this.#idle?.dispose();
    this.#child.kill('SIGKILL');
    this.#end(new Error('the driver has let go of it'));
  }

  async #limit(id: number, signal: AbortSignal): Promise<void> {
    const { clock, limitMs } = this.#options;
    try {
      await sleep(clock, limitMs, signal);
      this.#waiting.get(id)?.reject(new Error(`not within ${limitMs} ms`));
    } catch {
      // It came in time.
    }
  }

  #take({ id, isConnected, words }: Answer, handle: unknown): void {
    const waiting = this.#waiting.get(id);
    const socket = handle instanceof Socket ? handle : undefined;
    if (!waiting) socket?.destroy();
    else if (isConnected && socket) waiting.resolve(socket);
    else waiting.reject(new Error(words ?? 'the connection did not come'));
  }

  #rest(): void {
    if (this.isIdle) this.#idle = this.#options.clock.schedule(idleMs, () => this.dispose());
  }

  #end(error: Error): void {
    this.#idle?.dispose();
    this.#onEnd();
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}
