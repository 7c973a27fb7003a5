import type { Socket } from 'node:net';
import type { ByteStream } from '@sheaf/ports';
import type { SerialLog } from './serial-log.ts';
import { writeTo } from './socket-stream.ts';
import { connectUnix } from './unix-socket.ts';

/** A viewer that is this far behind is let go, so that it neither holds up the guest nor fills memory. */
const viewerBytes = 1024 * 1024;
/** How often the length of the log is looked at: once in so many bytes. */
const logCheckBytes = 64 * 1024;

/** The one connection to a machine's serial port, shared by all viewers. */
export class SerialConsole {
  readonly #path: string;
  readonly #log: SerialLog;
  readonly #onError: (error: unknown) => void;
  readonly #viewers = new Set<SerialViewer>();
  #socket: Socket | undefined;
  #connecting: Promise<Socket> | undefined;
  #uncheckedBytes = logCheckBytes;
  #isClosed = false;

  constructor(options: { path: string; log: SerialLog; onError: (error: unknown) => void }) {
    this.#path = options.path;
    this.#log = options.log;
    this.#onError = options.onError;
  }

  /** Connects unless it is connected. */
  async ensureConnected(): Promise<Socket> {
    if (this.#socket) return this.#socket;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return await this.#connecting;
  }

  async open(): Promise<ByteStream> {
    await this.ensureConnected();
    const viewer = new SerialViewer({
      write: async (bytes) => writeTo(await this.ensureConnected(), bytes),
      onDispose: () => this.#viewers.delete(viewer),
    });
    this.#viewers.add(viewer);
    return viewer;
  }

  /** Lets go of the port and of all viewers, for good. */
  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  #disconnect(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    for (const viewer of this.#viewers) viewer.end();
    this.#viewers.clear();
  }

  async #connect(): Promise<Socket> {
    const socket = await connectUnix(this.#path);
    if (this.#isClosed) {
      socket.destroy();
      throw new Error('the serial console has been closed: open it again');
    }
    socket.on('data', (bytes) => this.#receive(bytes as Buffer));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (this.#socket === socket) this.#disconnect();
    });
    this.#socket = socket;
    return socket;
  }

  #receive(bytes: Uint8Array): void {
    for (const viewer of this.#viewers) viewer.receive(bytes);
    this.#uncheckedBytes += bytes.length;
    if (this.#uncheckedBytes < logCheckBytes) return;
    this.#uncheckedBytes = 0;
    this.#log.rotate().catch(this.#onError);
  }
}

class SerialViewer implements ByteStream {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly #onDispose: () => void;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(options: { write: (bytes: Uint8Array) => Promise<void>; onDispose: () => void }) {
    this.write = options.write;
    this.#onDispose = options.onDispose;
  }

  get readable(): AsyncIterable<Uint8Array> {
    return this.#read();
  }

  receive(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > viewerBytes) {
      this.#error = new Error('this viewer of the serial console reads too slowly: open it again');
      this.#waiting = [];
      this.dispose();
    }
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  dispose(): void {
    this.#onDispose();
    this.end();
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      yield* waiting;
      if (this.#waiting.length > 0) continue;
      if (this.#error) throw this.#error;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
