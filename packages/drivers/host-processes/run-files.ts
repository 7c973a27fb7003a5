import { chmod, link, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ContainerEnd, SandboxSpec } from '@sheaf/ports';
import { type ProcessIdentity, parseIdentity } from '../qemu/process-identity.ts';

/** What a run was begun with. */
export interface RunOrder {
  readonly id: string;
  readonly sandboxId: string;
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly imageId: string;
  /** Of the program. Absent: begun by an earlier release, which did not write it down. */
  readonly reference?: string;
  readonly createdAt: number;
  readonly bootId: string;
  readonly stopSignal: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly userId: number | undefined;
  readonly logDirectory: string;
  readonly eventPath: string;
}

/** How a run ended. */
export interface RunEnd {
  readonly end: ContainerEnd;
  readonly endedAt: number;
}

export interface SandboxRecord {
  readonly spec: SandboxSpec;
  readonly createdAt: number;
  readonly bootId: string;
}

/**
 * Where everything is below one directory:
 * `sandboxes/ID/{spec,ended}`, `runs/ID/{order,claim,program,end,root/,work/}`, `logs/SANDBOX/ID/log`, `events/SANDBOX`,
 * `compiled/{watchers,USER}/`.
 */
export class RunFiles {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  sandbox(id: string): string {
    return join(this.directory, 'sandboxes', id);
  }

  run(id: string): string {
    return join(this.directory, 'runs', id);
  }

  sandboxLogs(sandboxId: string): string {
    return join(this.directory, 'logs', sandboxId);
  }

  /** Each user has their own, for what is in it is run. */
  compiled(user: 'watchers' | number): string {
    return join(this.directory, 'compiled', String(user));
  }

  get events(): string {
    return join(this.directory, 'events');
  }

  async sandboxIds(): Promise<readonly string[]> {
    return namesIn(join(this.directory, 'sandboxes'));
  }

  async runIds(): Promise<readonly string[]> {
    return namesIn(join(this.directory, 'runs'));
  }

  /** Takes away what a process that was killed has left half made, or half taken away. */
  async tidy(): Promise<void> {
    for (const [part, record] of [
      ['sandboxes', 'spec'],
      ['runs', 'order'],
    ] as const) {
      const directory = join(this.directory, part);
      const names = await readdir(directory).catch(() => []);
      for (const name of names)
        if (name.includes('~') || (await readText(join(directory, name, record))) === undefined)
          await rm(join(directory, name), { recursive: true, force: true });
    }
  }

  /** Where the log of a container is, also after its removal. */
  async findLog(containerId: string): Promise<string | undefined> {
    for (const sandboxId of await namesIn(join(this.directory, 'logs')))
      if ((await namesIn(this.sandboxLogs(sandboxId))).includes(containerId))
        return join(this.sandboxLogs(sandboxId), containerId);
    return undefined;
  }
}

export async function readOrder(run: string): Promise<RunOrder | undefined> {
  return readJson<RunOrder>(join(run, 'order'));
}

export async function readEnd(run: string): Promise<RunEnd | undefined> {
  return readJson<RunEnd>(join(run, 'end'));
}

/** Who watches over the run: only one process ever gets it. */
export async function readClaim(run: string): Promise<ProcessIdentity | undefined> {
  return parseIdentity((await readText(join(run, 'claim'))) ?? '');
}

/** The program itself, and when it began. */
export async function readProgram(
  run: string,
): Promise<{ readonly identity: ProcessIdentity; readonly startedAt: number } | undefined> {
  return readJson(join(run, 'program'));
}

let writes = 0;

/** @returns false if someone else has written it */
export async function writeOnce(path: string, text: string): Promise<boolean> {
  writes += 1;
  const own = `${path}.${process.pid}-${writes}`;
  await writeFile(own, text);
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

/** A directory that is there with all its files, or not at all. */
export async function makeWhole(path: string, fill: (directory: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = await mkdtemp(`${path}~`);
  await chmod(fresh, 0o755);
  await fill(fresh);
  try {
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** For whoever looks it is gone at once, with all its files, whatever becomes of this process. */
export async function removeWhole(path: string): Promise<void> {
  writes += 1;
  const going = `${path}~${process.pid}-${writes}`;
  try {
    await rename(path, going);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(going, { recursive: true, force: true });
}

export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readText(path);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** In their order; what is being made is not there yet. */
async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).filter((name) => !name.includes('~')).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
