import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type {
  ContainerLack,
  ContainersWorld,
  WorldRegistry,
} from '@sheaf/ports/containers/containers.contract';
import { currentBootId } from '../qemu/process-identity.ts';
import { systemClock } from '../system/system-clock.ts';
import type { HostProcessesOptions } from './host-processes.ts';
import type { HostProgram } from './host-program.ts';
import { openHostProcesses } from './open-host-processes.ts';
import { RunFiles } from './run-files.ts';
import { killRun, send } from './run-processes.ts';

export const hostLacks: ReadonlySet<ContainerLack> = new Set(['images', 'namespaces', 'streams']);
const guestText = readFileSync(
  fileURLToPath(new URL('../../testkit/containers/guest.sh', import.meta.url)),
  'utf8',
);

/** A directory for programs of this host; all of them end with it. */
export class HostProcessWorld implements ContainersWorld {
  readonly without = hostLacks;
  readonly sandbox = { network: { kind: 'host' } } as const;
  readonly guestTag = 'sheaf.local/guest:1';
  readonly root: string;
  readonly files: RunFiles;
  programs: readonly HostProgram[] = [];
  #boot = currentBootId();
  #opened: ReturnType<typeof openHostProcesses> | undefined;

  private constructor(root: string) {
    this.root = root;
    this.files = new RunFiles(join(root, 'state'));
  }

  static async make(): Promise<HostProcessWorld> {
    const world = new HostProcessWorld(await realpath(await mkdtemp(join(tmpdir(), 'host-processes-'))));
    // Paths of containers are below the root of the run.
    const text = guestText
      .replace('cat "$rest"', 'cat "$SHEAF_ROOT$rest"')
      .replace('>>"$path"', '>>"$SHEAF_ROOT$path"');
    await writeFile(join(world.root, 'guest.sh'), text);
    world.programs = [
      {
        reference: world.guestTag,
        command: ['/bin/sh', join(world.root, 'guest.sh')],
        environment: { PATH: '/usr/bin:/bin' },
        variables: ['GREETING'],
        userId: process.getuid?.() ?? 0,
      },
    ];
    return world;
  }

  open(): ReturnType<typeof openHostProcesses> {
    this.#opened = openHostProcesses(this.options());
    return this.#opened;
  }

  options(): HostProcessesOptions {
    const { files, programs } = this;
    return { directory: files.directory, clock: systemClock, programs, bootId: this.#boot };
  }

  archive(): AsyncIterable<Uint8Array> {
    throw new Error('programs have no archives');
  }

  openRegistry(): Promise<WorldRegistry> {
    return Promise.reject(new Error('programs have no registry'));
  }

  async makeDirectory(name: string): Promise<string> {
    const path = join(this.root, 'files', name);
    await mkdir(path, { recursive: true });
    return path;
  }

  async writeFile(path: string, text: string): Promise<void> {
    await writeFile(path, text);
  }

  async makeLink(path: string, target: string): Promise<void> {
    await symlink(target, path);
  }

  async readFile(path: string): Promise<string> {
    return readFile(path, 'utf8');
  }

  async pass(milliseconds: number): Promise<void> {
    await pass(milliseconds);
  }

  kill(processId: number): Promise<void> {
    process.kill(processId, 'SIGKILL');
    return Promise.resolve();
  }

  async restartHost(): Promise<void> {
    this.#opened?.containers.dispose();
    await this.endProcesses();
    this.#boot = '00000000-0000-4000-8000-000000000000';
  }

  /** Everything that runs for it, watchers first: also those that have come too late for a run and are about to see it. */
  async endProcesses(): Promise<void> {
    while (this.#killWatchers() > 0) await pass(5);
    for (const id of await this.files.runIds())
      while (killRun(this.files.run(id), undefined) > 0) await pass(5);
  }

  /** They are told their run by its directory. @returns how many there were */
  #killWatchers(): number {
    const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && this.#isNamedIn(name));
    for (const pid of found) send(Number(pid), 'SIGKILL');
    return found.length;
  }

  #isNamedIn(pid: string): boolean {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${this.root}/`);
    } catch {
      // It has ended.
      return false;
    }
  }

  async traces(): Promise<readonly string[]> {
    const all = await readdir(this.files.directory, { recursive: true }).catch(() => []);
    // The directories for all of them stay, and so does compiled code.
    return all.filter((path) => path.includes('/') && !path.startsWith('compiled/')).toSorted();
  }

  async dispose(): Promise<void> {
    this.#opened?.containers.dispose();
    await this.endProcesses();
    await rm(this.root, { recursive: true, force: true });
  }
}
