import type { PortsAnswer, ProcessAnswer, ProcessStreams, RemoteProcess } from '@sheaf/api';
import { BoundedQueue, type ByteStream, StatusError, type WebSocketLike } from '@sheaf/base';
import { connectionPair } from '../spdy/spdy-client.fixture.ts';

/** The client's end of a WebSocket: what a test sends, and what it has got. */
export class HandWebSocket implements WebSocketLike {
  readonly bufferedAmount = 0;
  readonly got: (Buffer | string)[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #messages: ((data: Uint8Array, isBinary: boolean) => void)[] = [];
  readonly #closes: ((code: number, reason: Uint8Array) => void)[] = [];
  #wake: () => void = () => undefined;

  send(data: Uint8Array | string, sent: (error?: Error | null) => void): void {
    this.got.push(typeof data === 'string' ? data : Buffer.from(data));
    sent();
    this.#wake();
  }

  close(code = 1005, reason = ''): void {
    if (this.closed) return;
    this.closed = { code, reason };
    for (const tell of this.#closes) tell(code, Buffer.from(reason));
    this.#wake();
  }

  terminate(): void {
    this.close(1006);
  }

  pause(): void {
    // What a test sends comes at once.
  }

  resume(): void {
    // As above.
  }

  on(event: 'message' | 'close' | 'error', listener: never): void {
    if (event === 'message') this.#messages.push(listener);
    if (event === 'close') this.#closes.push(listener);
  }

  /** The client sends something. */
  say(data: readonly number[] | string, text = ''): void {
    const bytes =
      typeof data === 'string' ? Buffer.from(data) : Buffer.concat([Buffer.from(data), Buffer.from(text)]);
    for (const take of this.#messages) take(bytes, typeof data !== 'string');
  }

  /** What has come on a channel. */
  textOf(channel: number): string {
    return this.got
      .flatMap((item) =>
        typeof item !== 'string' && item[0] === channel ? [item.subarray(1).toString()] : [],
      )
      .join('');
  }

  async until(claim: (socket: HandWebSocket) => boolean): Promise<void> {
    while (!claim(this))
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

/** A process that a test plays. */
export class HandProcess implements RemoteProcess {
  readonly printed = new BoundedQueue(1000);
  readonly errors: string[] = [];
  readonly sizes: { readonly columns: number; readonly rows: number }[] = [];
  typed = '';
  isInputEnded = false;
  isDisposed = false;
  end: StatusError | undefined;
  #wake: () => void = () => undefined;

  get output(): RemoteProcess['output'] {
    return this.#printed();
  }

  write(bytes: Uint8Array): Promise<void> {
    this.typed += Buffer.from(bytes).toString();
    this.#wake();
    return Promise.resolve();
  }

  endInput(): Promise<void> {
    this.isInputEnded = true;
    this.#wake();
    return Promise.resolve();
  }

  resize(size: { readonly columns: number; readonly rows: number }): Promise<void> {
    this.sizes.push(size);
    this.#wake();
    return Promise.resolve();
  }

  outcome(): Promise<StatusError | undefined> {
    return Promise.resolve(this.end);
  }

  dispose(): void {
    this.isDisposed = true;
    this.printed.dispose();
    this.#wake();
  }

  async until(claim: (process: HandProcess) => boolean): Promise<void> {
    while (!claim(this))
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  /** Ends with this code. */
  exit(code: number): void {
    if (code !== 0)
      this.end = new StatusError({
        reason: 'NonZeroExitCode',
        message: `command terminated with non-zero exit code: exit status ${code}`,
        details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
      });
    this.printed.end();
  }

  /** Errors begin with `!`. */
  async *#printed(): AsyncGenerator<{ readonly stream: 'stdout' | 'stderr'; readonly bytes: Uint8Array }> {
    for await (const bytes of this.printed.items())
      yield bytes[0] === 0x21 ? { stream: 'stderr', bytes: bytes.subarray(1) } : { stream: 'stdout', bytes };
  }
}

export const allStreams: ProcessStreams = { stdin: true, stdout: true, stderr: true, terminal: false };

export function processAnswer(process: HandProcess, streams: Partial<ProcessStreams> = {}): ProcessAnswer {
  return { kind: 'process', streams: { ...allStreams, ...streams }, open: () => Promise.resolve(process) };
}

/** Ports that answer what they get, in capitals, once that has ended; port 1 is closed. */
export function portsAnswer(ports: readonly number[] = []): PortsAnswer & { readonly opened: number[] } {
  const opened: number[] = [];
  return {
    kind: 'ports',
    ports,
    opened,
    open(port) {
      opened.push(port);
      if (port === 1)
        return Promise.reject(new StatusError({ reason: 'ServiceUnavailable', message: 'port 1 is closed' }));
      const [near, far] = connectionPair();
      // A client may break off before it is answered.
      shout(far, port).catch(() => undefined);
      return Promise.resolve(near);
    },
  };
}

async function shout(stream: ByteStream, port: number): Promise<void> {
  let text = '';
  for await (const bytes of stream.readable) text += Buffer.from(bytes).toString();
  await stream.write(Buffer.from(`${port} ${text.toUpperCase()}`));
  await stream.end?.();
}
