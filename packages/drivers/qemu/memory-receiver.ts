import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type Disposable, toError } from '@sheaf/base';
import { fileNames } from './device-names.ts';

/**
 * Listens in a machine's directory, and writes what its process sends to a file, after `head`. It reads as fast as the disk takes it.
 * `dispose` breaks the connection off: then the program gives up, and lets the guest go on.
 */
export class MemoryReceiver implements Disposable {
  /** Resolves when the program has sent everything; rejects where that cannot be written. */
  readonly ended: Promise<void>;
  readonly #server: Server;
  readonly #directory: FileHandle;
  #socket: Socket | undefined;
  #failure: Error | undefined;

  private constructor(parts: { server: Server; directory: FileHandle; ended: Promise<void> }) {
    this.#server = parts.server;
    this.#directory = parts.directory;
    this.ended = parts.ended;
    this.ended.catch((error: unknown) => {
      this.#failure = toError(error);
    });
  }

  /** Why what was sent could not be written. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  static async listen(
    machineDirectory: string,
    { path, head }: { readonly path: string; readonly head: Buffer },
  ): Promise<MemoryReceiver> {
    const directory = await open(machineDirectory, 'r');
    // The kernel takes short paths only.
    const socketPath = `/proc/self/fd/${directory.fd}/${fileNames.memory}`;
    await rm(socketPath, { force: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      receiver.#socket = socket;
      server.close();
      write(socket, path, head).then(resolve, (error: unknown) => reject(toError(error)));
    });
    const receiver = new MemoryReceiver({ server, directory, ended: promise });
    try {
      await new Promise<void>((listening, failed) => {
        server.once('error', failed);
        server.listen(socketPath, listening);
      });
    } catch (error) {
      receiver.dispose();
      throw error;
    }
    return receiver;
  }

  dispose(): void {
    this.#socket?.destroy();
    this.#server.close();
    this.#directory.close().catch(() => undefined);
  }
}

async function write(socket: Socket, path: string, head: Buffer): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600 });
  file.write(head);
  await pipeline(socket, file);
}
