import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiResponse } from '@sheaf/apiserver';
import type { PathHandler } from '@sheaf/apiserver/pipeline/path-handler';
import { type Clock, type Random, StatusError, sleep } from '@sheaf/base';
import type { Store } from '@sheaf/store';

export const backupPath = '/sheaf/v1/backup';

export interface BackupPathOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** For the copy while it is sent; what a crash left there is removed. */
  readonly directory: string;
}

type Sink = Parameters<Extract<ApiResponse['body'], { kind: 'stream' }>['start']>[0];

const chunkBytes = 256 * 1024;
const queueLimitBytes = 4 * 1024 * 1024;

/** `GET /sheaf/v1/backup`: a consistent copy of the store, made while it works. Who may read it may read everything. */
export function backupHandler(options: BackupPathOptions): PathHandler {
  let isBusy = false;
  return ({ info, request }) => {
    if (info.path !== backupPath) return undefined;
    if (request.method !== 'GET')
      throw new StatusError({ reason: 'MethodNotAllowed', message: `${backupPath} is read with GET` });
    if (isBusy)
      throw new StatusError({
        reason: 'TooManyRequests',
        message: 'a backup is being made already',
        details: { retryAfterSeconds: 10 },
      });
    isBusy = true;
    return answer(options, request.signal, () => {
      isBusy = false;
    });
  };
}

async function answer(options: BackupPathOptions, gone: AbortSignal, done: () => void): Promise<ApiResponse> {
  const { store, directory, random } = options;
  const path = join(directory, `${random.uuid()}.db`);
  try {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await store.backup(path);
    const file = await open(path);
    const { size } = await file.stat();
    const end = (): void => {
      done();
      void file.close().then(() => rm(path, { force: true }));
    };
    gone.throwIfAborted();
    // A client that goes before the stream begins must not leave the copy behind.
    gone.addEventListener('abort', end, { once: true });
    return {
      status: 200,
      headers: { 'content-type': 'application/vnd.sqlite3', 'content-length': String(size) },
      body: {
        kind: 'stream',
        start(sink) {
          const stop = new AbortController();
          gone.removeEventListener('abort', end);
          void send(file, sink, { clock: options.clock, signal: stop.signal }).finally(end);
          return { dispose: () => stop.abort(new Error('the client is gone')) };
        },
      },
    };
  } catch (error) {
    done();
    await rm(path, { force: true });
    throw error;
  }
}

async function send(
  file: Awaited<ReturnType<typeof open>>,
  sink: Sink,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  try {
    while (!signal.aborted) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
      if (bytesRead === 0) break;
      sink.write(buffer.subarray(0, bytesRead));
      while (sink.queuedBytes > queueLimitBytes && !signal.aborted) await sleep(clock, 5, signal);
    }
  } catch {
    // The length was told before; a client that gets less knows that the copy is not whole.
  } finally {
    sink.end();
  }
}
