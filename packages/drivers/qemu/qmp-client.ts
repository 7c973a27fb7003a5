import type { Socket } from 'node:net';
import { type Clock, type Disposable, isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { connectUnix } from './unix-socket.ts';

export interface QmpEvent {
  readonly name: string;
  readonly data: JsonObject;
}

/** The program refused a command, with its own words. */
export class QmpError extends Error {
  /** The class of the error, such as `DeviceNotFound`. */
  readonly kind: string;

  constructor(command: string, answer: JsonObject) {
    super(`${command}: ${textAt(answer, 'desc')}`);
    this.name = 'QmpError';
    this.kind = textAt(answer, 'class') ?? '';
  }
}

/** No answer came in time. The command may still be carried out. */
export class QmpSilence extends Error {
  override readonly name = 'QmpSilence';
}

/** The connection ended before the answer came. */
export class QmpClosed extends Error {
  override readonly name = 'QmpClosed';
}

export interface QmpOptions {
  readonly path: string;
  readonly clock: Clock;
  /** How long to wait for the greeting, and for an answer where a command does not say. */
  readonly limitMs: number;
  readonly onEvent: (event: QmpEvent) => void;
  readonly onClose: () => void;
}

interface Pending {
  readonly command: string;
  readonly resolve: (value: JsonValue) => void;
  readonly reject: (error: Error) => void;
  readonly timer: Disposable;
}

const greeting = 0;

/** Events that are only about whether the processors run. */
const statusEvents = new Set(['RESUME', 'STOP']);

/** What tells about the machine without changing it, or changes only whether the processors run. */
function isHarmless(command: string, args: JsonObject | undefined): boolean {
  if (command === 'human-monitor-command') return textAt(args, 'command-line')?.startsWith('info ') === true;
  return /^(query-|qom-list|qom-get|qmp_capabilities$|cont$|stop$)/.test(command);
}

/** One connection to a machine's control socket. Every wait has an end: an answer, the limit, or the end of the connection. */
export class QmpClient implements Disposable {
  readonly #options: QmpOptions;
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #lastId = greeting;
  #changes = 0;
  #turns = 0;
  #partial = '';
  #isClosed = false;

  private constructor(socket: Socket, options: QmpOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#close());
  }

  /** Grows with all that may have changed the machine, except whether its processors run. */
  get changes(): number {
    return this.#changes;
  }

  /** Grows whenever the processors are stopped or run on, also where nobody here asked for it. */
  get turns(): number {
    return this.#turns;
  }

  /** Resolves when commands can be sent; they are accepted in turn. @throws QmpSilence where another client holds the socket */
  static async connect(options: QmpOptions): Promise<QmpClient> {
    const client = new QmpClient(await connectUnix(options.path), options);
    try {
      await client.#wait(greeting, 'greeting', options.limitMs);
      // What follows waits behind it; if this is refused, so is that.
      client.execute('qmp_capabilities').catch(() => undefined);
      return client;
    } catch (error) {
      client.dispose();
      throw error;
    }
  }

  async execute(
    command: string,
    args?: JsonObject,
    limitMs: number = this.#options.limitMs,
  ): Promise<JsonValue> {
    if (this.#isClosed) throw new QmpClosed(`${command}: the connection has ended`);
    const id = ++this.#lastId;
    const answer = this.#wait(id, command, limitMs);
    this.#gatherWrites();
    this.#socket.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }), id })}\n`);
    if (isHarmless(command, args)) return await answer;
    this.#changes++;
    try {
      return await answer;
    } finally {
      // What was asked while it was carried out may be from before it.
      this.#changes++;
    }
  }

  dispose(): void {
    this.#socket.destroy();
    this.#close();
  }

  /** What is asked in one go leaves in one write. */
  #gatherWrites(): void {
    if (this.#socket.writableCorked > 0) return;
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
  }

  #wait(id: number, command: string, limitMs: number): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.schedule(limitMs, () => {
        this.#pending.delete(id);
        reject(new QmpSilence(`${command}: no answer within ${limitMs} ms`));
      });
      this.#pending.set(id, { command, resolve, reject, timer });
    });
  }

  #read(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') this.#take(line);
  }

  #take(line: string): void {
    const message = JSON.parse(line) as JsonValue;
    if (!isJsonObject(message)) return;
    if (typeof message['event'] === 'string') {
      const data = message['data'];
      if (statusEvents.has(message['event'])) this.#turns++;
      else this.#changes++;
      this.#options.onEvent({ name: message['event'], data: isJsonObject(data) ? data : {} });
    } else if (message['QMP'] !== undefined) this.#settle(greeting, message);
    else if (typeof message['id'] === 'number') this.#settle(message['id'], message);
  }

  #settle(id: number, message: JsonObject): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    pending.timer.dispose();
    const { error } = message;
    if (isJsonObject(error)) pending.reject(new QmpError(pending.command, error));
    else pending.resolve(message['return'] ?? null);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { command, reject, timer } of this.#pending.values()) {
      timer.dispose();
      reject(new QmpClosed(`${command}: the connection ended before the answer came`));
    }
    this.#pending.clear();
    this.#options.onClose();
  }
}

/** The elements of an answer that are objects. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A field of an object, if it is an object itself; else an empty one. */
export function objectAt(value: JsonValue | undefined, name: string): JsonObject {
  const field = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(field) ? field : {};
}

/** A field's text, if it is one. */
export function textAt(value: JsonValue | undefined, name: string): string | undefined {
  const field = isJsonObject(value) ? value[name] : undefined;
  return typeof field === 'string' ? field : undefined;
}
