/**
 * Watches over one run of a program: starts it, writes down what it prints and how it ends. It outlives whoever asked for it.
 * Usage: node watcher.ts RUN_DIRECTORY
 */
import { spawn } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { ContainerEnd } from '@sheaf/ports';
import { identityOf } from '../qemu/process-identity.ts';
import { isFullDisk, LogWriter } from './log-writer.ts';
import { type RunOrder, readOrder, writeOnce } from './run-files.ts';
import { killRun } from './run-processes.ts';

/** How often it is tried whether there is room again. */
const roomMs = 500;

// Whoever ends a group of processes means the program.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const [run = ''] = process.argv.slice(2);
const order = await readOrder(run);
if (order && (await claim(order))) await watch(order);

/** Nobody runs it but the one who has this. */
async function claim({ bootId }: RunOrder): Promise<boolean> {
  const own = identityOf(process.pid, bootId);
  const text = `${own?.pid} ${own?.startTime} ${bootId}\n`;
  return writeOnce(join(run, 'claim'), text);
}

async function watch({
  bootId,
  command,
  environment,
  userId,
  logDirectory,
  eventPath,
}: RunOrder): Promise<void> {
  const [program = '', ...args] = command;
  const log = new LogWriter(logDirectory, () => Date.now());
  const child = spawn(program, args, {
    cwd: join(run, 'work'),
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const ended = new Promise<ContainerEnd>((resolve) => {
    child.once('error', (error) => resolve({ cause: 'start-failed', message: error.message }));
    child.once('exit', (code, signal) =>
      resolve({ cause: 'exited', exitCode: signal ? 128 + constants.signals[signal] : (code ?? 0) }),
    );
  });
  child.stdout.on('data', (bytes: Buffer) => void log.write('stdout', bytes));
  child.stderr.on('data', (bytes: Buffer) => void log.write('stderr', bytes));
  if (child.pid !== undefined) {
    const identity = identityOf(child.pid, bootId) ?? { pid: child.pid, startTime: '0', bootId };
    await writeWhole('program', { identity, startedAt: Date.now() });
    await tell(eventPath);
  }
  // Now, while the program runs: after its end has been told nothing is written any more.
  flushCompileCache();
  const end = await ended;
  while (killRun(run, process.pid) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  if (end.cause !== 'start-failed') await closed;
  await log.close();
  await writeWhole('end', { end, endedAt: Date.now() });
  await tell(eventPath);
}

/** Whoever removed the sandbox meanwhile need not be told. */
async function tell(eventPath: string): Promise<void> {
  await writeFile(eventPath, 'changed', { flag: 'r+' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Nobody else knows it: where there is no room for it, it is told when there is. */
async function writeWhole(name: string, value: object): Promise<void> {
  for (;;)
    try {
      await writeFile(join(run, `${name}.new`), JSON.stringify(value));
      return await rename(join(run, `${name}.new`), join(run, name));
    } catch (error) {
      if (!isFullDisk(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, roomMs));
    }
}
