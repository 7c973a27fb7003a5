import type { Socket } from 'node:net';
import { type Clock, type Disposable, isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { textAt } from './qmp-client.ts';
import { within } from './socket-stream.ts';
import { connectUnix } from './unix-socket.ts';

export interface AgentChannelOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly limitMs: number;
  /** A number that no earlier conversation used. */
  readonly token: () => number;
}

interface Waiting {
  readonly matches: (answer: JsonObject) => boolean;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The conversation with a guest's agent: one connection for as long as the guest listens, one command at a time. A guest whose
 * channel is opened and closed again and again before its agent listens may never come to rest.
 */
export class AgentChannel implements Disposable {
  readonly #options: AgentChannelOptions;
  #socket: Promise<Socket> | undefined;
  /** True when answers of an earlier command may still come. */
  #isOutOfStep = true;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting: Waiting | undefined;
  #partial = '';

  constructor(options: AgentChannelOptions) {
    this.#options = options;
  }

  /** @throws Error with the agent's words, or when no answer comes in time */
  async ask(command: JsonObject): Promise<JsonValue> {
    const answer = this.#turn.then(() => this.#askInTurn(command));
    this.#turn = answer.catch(() => undefined);
    return await answer;
  }

  dispose(): void {
    void this.#socket?.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
    this.#socket = undefined;
  }

  async #askInTurn(command: JsonObject): Promise<JsonValue> {
    const socket = await this.#connected();
    if (this.#isOutOfStep) await this.#synchronize(socket);
    const answer = await this.#exchange(socket, command, () => true);
    const { error } = answer;
    if (isJsonObject(error)) throw new Error(`the guest agent refused: ${textAt(error, 'desc')}`);
    return answer['return'] ?? null;
  }

  /** Answers of earlier commands are passed over until the one that carries our number comes. */
  async #synchronize(socket: Socket): Promise<void> {
    const id = this.#options.token();
    const command = { execute: 'guest-sync', arguments: { id } };
    await this.#exchange(socket, command, (answer) => answer['return'] === id);
    this.#isOutOfStep = false;
  }

  async #exchange(
    socket: Socket,
    command: JsonObject,
    matches: (answer: JsonObject) => boolean,
  ): Promise<JsonObject> {
    const answer = new Promise<JsonObject>((resolve, reject) => {
      this.#waiting = { matches, resolve, reject };
    });
    socket.write(`${JSON.stringify(command)}\n`);
    const { clock, limitMs } = this.#options;
    const words = `the guest agent did not answer within ${limitMs} ms: see that it runs in the guest`;
    try {
      return await within(answer, { clock, limitMs, words });
    } catch (error) {
      this.#isOutOfStep = true;
      throw error;
    } finally {
      this.#waiting = undefined;
    }
  }

  #connected(): Promise<Socket> {
    this.#socket ??= this.#connect();
    return this.#socket;
  }

  async #connect(): Promise<Socket> {
    try {
      const socket = await connectUnix(this.#options.path);
      this.#partial = '';
      this.#isOutOfStep = true;
      socket.setEncoding('utf8');
      socket.on('data', (text: string) => this.#read(text));
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#close());
      return socket;
    } catch (error) {
      this.#socket = undefined;
      throw error;
    }
  }

  #close(): void {
    this.#socket = undefined;
    this.#waiting?.reject(new Error('the channel to the guest agent has been closed: try again'));
  }

  #read(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    let answer: unknown;
    try {
      answer = JSON.parse(line);
    } catch {
      // The rest of an answer to an earlier conversation; what belongs to this one comes whole.
      return;
    }
    if (isJsonObject(answer) && this.#waiting?.matches(answer)) this.#waiting.resolve(answer);
  }
}
