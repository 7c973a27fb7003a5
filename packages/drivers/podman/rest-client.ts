import { type FileHandle, open } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { StatusError, toError } from '@sheaf/base';

export interface RestCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/libpod`, with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** For the whole answer, milliseconds. */
  readonly limitMs: number;
}

/** An answer that is an error, in the words of the engine. */
export class RestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    // Ids of containers are another one each time, and say nothing to anybody.
    super(message.replaceAll(/ [0-9a-f]{64}\b/g, ''));
    this.name = 'RestError';
    this.status = status;
  }
}

const version = '/v4.0.0/libpod';
const longestAnswer = 64 * 1024 * 1024;

/** The kernel takes names of sockets of at most 107 bytes. */
export function isSocketPath(path: string): boolean {
  return Buffer.byteLength(path) <= 107;
}

/** One service of the engine, on its socket. */
export class RestClient {
  readonly #socketPath: string;
  /** Leads to a socket whose path is too long. */
  readonly #directory: FileHandle | undefined;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(socketPath: string, directory?: FileHandle) {
    this.#socketPath = socketPath;
    this.#directory = directory;
  }

  /** For a socket that is or will be at this path, however long. Its directory is there. */
  static async open(path: string): Promise<RestClient> {
    if (isSocketPath(path)) return new RestClient(path);
    const directory = await open(dirname(path), 'r');
    return new RestClient(`/proc/self/fd/${directory.fd}/${basename(path)}`, directory);
  }

  /** The answer's JSON; `undefined` if it is empty. @throws RestError, or a StatusError where nothing answers */
  async call(call: RestCall): Promise<unknown> {
    const limit = AbortSignal.timeout(call.limitMs);
    try {
      const response = await this.#send(call, limit);
      const text = await textOf(response);
      const status = response.statusCode ?? 0;
      if (status >= 400) throw new RestError(status, messageOf(text, status));
      return text.trim() === '' ? undefined : parse(text);
    } catch (error) {
      if (error instanceof RestError) throw error;
      throw limit.aborted ? unanswered(`not within ${call.limitMs} ms`) : unanswered(toError(error).message);
    }
  }

  /** The lines of an answer that goes on, until `signal` aborts. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<string> {
    const response = await this.#send({ method: 'GET', path }, signal);
    let rest = '';
    for await (const bytes of response as AsyncIterable<Buffer>) {
      const lines = `${rest}${bytes.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
  }

  /** A connection that the engine and a process have taken over. @throws RestError if it does not */
  async hijack(call: Omit<RestCall, 'method'>): Promise<Socket> {
    // Whatever else is sent is input of the process.
    const body = call.body === undefined ? '' : JSON.stringify(call.body);
    const socket = connect({ path: this.#socketPath, allowHalfOpen: true });
    const limit = setTimeout(() => socket.destroy(new Error(`not within ${call.limitMs} ms`)), call.limitMs);
    const lines = [
      `POST ${version}${call.path} HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: tcp',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    try {
      return await takenOver(socket);
    } catch (error) {
      socket.destroy();
      if (error instanceof RestError) throw error;
      throw unanswered(toError(error).message);
    } finally {
      clearTimeout(limit);
    }
  }

  /** Ends all calls under way. */
  dispose(): void {
    this.#agent.destroy();
    this.#directory?.close().catch(() => undefined);
  }

  #send(
    { method, path, body }: Pick<RestCall, 'method' | 'path' | 'body'>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          socketPath: this.#socketPath,
          agent: this.#agent,
          method,
          path: `${version}${path}`,
          headers: body === undefined ? {} : { 'content-type': 'application/json' },
          signal,
        },
        resolve,
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** Reads the head of the answer; what follows it stays in the socket. */
async function takenOver(socket: Socket): Promise<Socket> {
  let head = Buffer.alloc(0);
  for (;;) {
    head = Buffer.concat([head, await nextBytes(socket)]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString('latin1'))?.[1] ?? 0);
    const rest = head.subarray(end + 4);
    if (status !== 101 && status !== 200) throw new RestError(status, messageOf(rest.toString(), status));
    if (rest.length > 0) socket.unshift(rest);
    return socket;
  }
}

function nextBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const read = (): void => {
      const bytes = socket.read() as Buffer | null;
      if (bytes) done(() => resolve(bytes));
    };
    const fail = (error: Error): void => done(() => reject(error));
    const end = (): void => done(() => reject(new Error('the connection was closed')));
    const done = (settle: () => void): void => {
      socket.off('readable', read).off('error', fail).off('end', end).off('close', end);
      settle();
    };
    socket.on('readable', read).on('error', fail).on('end', end).on('close', end);
    read();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > longestAnswer) throw new Error(`the answer is longer than ${longestAnswer} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Some answers are plain text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function messageOf(text: string, status: number): string {
  const answer = parse(text);
  const message =
    typeof answer === 'object' && answer !== null ? (answer as { message?: unknown }).message : undefined;
  return typeof message === 'string' ? message : text.trim() || `the engine answered with status ${status}`;
}

function unanswered(words: string): StatusError {
  return new StatusError({
    reason: 'ServiceUnavailable',
    message: `podman did not answer: ${words}; it is started again by itself, try again then`,
  });
}
