import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '@sheaf/base';
import type { DiskFile } from '@sheaf/ports';
import { type LaunchEnd, launch } from '../qemu/launch.ts';
import { hasOpen } from '../qemu/process-files.ts';
import {
  isAlive,
  type ProcessIdentity,
  parseIdentity,
  signalProcess,
  waitForExit,
} from '../qemu/process-identity.ts';
import { findProgram } from '../qemu/run-program.ts';
import { isMissing } from './directory-layout.ts';
import { wayToGet } from './host-tools.ts';
import { mountAt, unmountAnyway } from './mount-table.ts';
import { refusals } from './refusals.ts';

/** The program that shows what is in a disk as one file. */
export const exporter = 'qemu-storage-daemon';

const processName = 'exporter';
const pollMs = 5;
/** On a host with a lot to do; it takes some milliseconds otherwise. */
const startLimitMs = 60_000;
/** It writes back what it holds; nearly all of that has been written when its file system was unmounted. */
const endLimitMs = 30_000;
const askAgainMs = 250;

export interface ExportHost {
  readonly clock: Clock;
  readonly bootId: string;
  /** Asked of each disk that is open, with its lock, before anything is written. */
  readonly mayWrite: (path: string) => Promise<boolean>;
}

/**
 * What is in a disk, as one file of the host: a process shows it, which outlives this one and is found again by its record.
 * It holds the locks of the disk, so no virtual machine opens it meanwhile.
 */
export class DiskExport {
  readonly #directory: string;
  readonly #volumeId: string;
  readonly #host: ExportHost;

  constructor(directory: string, volumeId: string, host: ExportHost) {
    this.#directory = directory;
    this.#volumeId = volumeId;
    this.#host = host;
  }

  /** The file. */
  get path(): string {
    return join(this.#directory, 'export');
  }

  async isUp(): Promise<boolean> {
    return (await this.#runningProcess()) !== undefined && (await this.#isShown());
  }

  async ensure(disk: DiskFile, signal: AbortSignal): Promise<void> {
    const identity = await this.#runningProcess();
    if (identity) {
      const lives = (): boolean => isAlive(identity, this.#host.bootId);
      if (await this.#untilShown(lives, signal)) return;
    }
    await this.end();
    await this.#start(disk, signal);
  }

  /**
   * False where the volume has gone on in another file since it was looked up, and where an earlier life has begun to show another one.
   * What is true stays so: nobody freezes a file that is locked.
   */
  async mayWrite({ path }: DiskFile): Promise<boolean> {
    const identity = await this.#runningProcess();
    return identity !== undefined && (await this.#host.mayWrite(path)) && (await hasOpen(identity.pid, path));
  }

  /** Writes everything back; nothing runs: only what is left of it is taken away. */
  async end(): Promise<void> {
    const identity = await this.#runningProcess();
    if (identity && !(await this.#hasEnded(identity))) throw refusals.noAnswer(this.#volumeId);
    // One that was killed leaves its mount, behind which nobody is.
    await unmountAnyway(this.path);
    for (const name of [`${processName}.process`, `${processName}.log`])
      await rm(join(this.#directory, name), { force: true });
  }

  async #hasEnded(identity: ProcessIdentity): Promise<boolean> {
    const { bootId, clock } = this.#host;
    const wait = { bootId, clock, limitMs: askAgainMs };
    // A signal that comes just before it begins to wait for work is noticed only with the next event.
    for (let asked = 0; asked < endLimitMs / askAgainMs; asked++) {
      signalProcess(identity, bootId, 'SIGTERM');
      if (await waitForExit(identity, wait)) return true;
    }
    signalProcess(identity, bootId, 'SIGKILL');
    return await waitForExit(identity, { ...wait, limitMs: endLimitMs });
  }

  async #start(disk: DiskFile, signal: AbortSignal): Promise<void> {
    const program = findProgram(exporter);
    if (program === undefined) throw refusals.noProgram(exporter, wayToGet([exporter]));
    signal.throwIfAborted();
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await (await open(this.path, 'a', 0o600)).close();
    const launched = launch({
      directory: this.#directory,
      name: processName,
      program,
      args: exportArguments(disk, this.path),
    });
    let end: LaunchEnd | undefined;
    void launched.ended.then((how) => (end = how));
    if (await this.#untilShown(() => end === undefined, signal)) return;
    // Refused: one that was being launched by an earlier life of this process has come first.
    if (end === undefined || end.kind === 'refused') throw refusals.noAnswer(this.#volumeId);
    throw await this.#refusalOf(end.status);
  }

  async #refusalOf(status: string): Promise<Error> {
    const words = (await readIfThere(join(this.#directory, `${processName}.log`))).trim();
    if (/Failed to get .* lock|another process using/.test(words)) return refusals.diskInUse(this.#volumeId);
    return refusals.diskUnusable(this.#volumeId, words || `${exporter} ended with ${status}`);
  }

  /** False when it does not live any more, or for too long shows nothing. */
  async #untilShown(lives: () => boolean, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#host;
    const limit = clock.monotonic() + startLimitMs;
    while (!(await this.#isShown())) {
      signal.throwIfAborted();
      if (!lives() || clock.monotonic() >= limit) return false;
      await sleep(clock, pollMs);
    }
    return lives();
  }

  async #isShown(): Promise<boolean> {
    return (await mountAt(this.path))?.type.startsWith('fuse') === true;
  }

  async #runningProcess(): Promise<ProcessIdentity | undefined> {
    const identity = parseIdentity(await readIfThere(join(this.#directory, `${processName}.process`)));
    return identity && isAlive(identity, this.#host.bootId) ? identity : undefined;
  }
}

function exportArguments({ path, format }: DiskFile, place: string): readonly string[] {
  const file = { driver: 'file', 'node-name': 'file', filename: path, discard: 'unmap', locking: 'on' };
  const disk = { driver: format, 'node-name': 'disk', file: 'file', discard: 'unmap' };
  const shown = {
    type: 'fuse',
    id: 'shown',
    'node-name': 'disk',
    mountpoint: place,
    writable: true,
    'allow-other': 'off',
  };
  return [
    ...['--blockdev', JSON.stringify(file)],
    ...['--blockdev', JSON.stringify(disk)],
    ...['--export', JSON.stringify(shown)],
  ];
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}
