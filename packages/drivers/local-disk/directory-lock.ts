import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { type Clock, type Disposable, disposable, sleep } from '@sheaf/base';

/**
 * A process that was killed while it began a program leaves a copy of itself for a moment, with all that it had open, until that
 * copy has become the program and ends.
 */
const attempts = 20;
const retryMs = 50;

/**
 * Lets one process at a time work in a directory. The kernel gives the lock back when the process ends, however it ends.
 * @throws Error when another has it
 */
export async function lockDirectory(directory: string, clock: Clock): Promise<Disposable> {
  const { dev, ino } = await stat(directory);
  // A name that is in no directory, and whose owner is a process.
  const name = `\0sheaf-local-disk-${dev}-${ino}`;
  let failure: unknown;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await sleep(clock, retryMs);
    try {
      const server = await listen(name);
      return disposable(() => server.close());
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`${directory} is in use by another process; stop it first`, { cause: failure });
}

function listen(name: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.on('error', reject);
    server.listen(name, () => resolve(server.unref()));
  });
}
