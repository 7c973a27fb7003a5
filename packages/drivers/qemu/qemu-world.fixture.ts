import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { promisify } from 'node:util';
import { silentLogger } from '@sheaf/base';
import type { DiskFile, Hypervisor } from '@sheaf/ports';
import type { HypervisorWorld } from '@sheaf/ports/hypervisor/hypervisor.contract';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { tapPrefix } from './device-names.ts';
import { testGuestImage } from './firmware/test-guest.gen.ts';
import { openQemu, type QemuOptions } from './register.ts';
import { findProgram } from './run-program.ts';
import { connectUnix } from './unix-socket.ts';

const run = promisify(execFile);

/** Why the driver cannot be tried here. */
export const qemuIsMissing =
  findProgram('qemu-system-x86_64') === undefined || findProgram('qemu-img') === undefined
    ? 'QEMU is not installed: apt-get install qemu-system-x86 qemu-utils'
    : undefined;

const canBridge = process.getuid?.() === 0 && findProgram('ip') !== undefined;

/** A directory for machines that are real processes; all of them end with it. */
export class QemuWorld implements HypervisorWorld {
  readonly directory: string;
  readonly guest: HypervisorWorld['guest'];
  readonly bridge?: NonNullable<HypervisorWorld['bridge']>;
  readonly #root: string;
  readonly #opened: Hypervisor[] = [];
  readonly #outdated = new Set<string>();
  readonly #options: Partial<QemuOptions>;
  #boot: string | undefined;

  private constructor(root: string, options: { bridge: string | undefined; qemu: Partial<QemuOptions> }) {
    this.#root = root;
    this.#options = options.qemu;
    this.directory = join(root, 'state');
    this.guest = { kind: 'file', path: join(root, 'guest.bin') };
    const { bridge } = options;
    if (bridge !== undefined)
      this.bridge = { name: bridge, ports: () => readdir(`/sys/class/net/${bridge}/brif`) };
  }

  static async make(qemu: Partial<QemuOptions> = {}): Promise<QemuWorld> {
    const root = realpathSync(await mkdtemp(join(tmpdir(), 'qemu-')));
    await writeFile(join(root, 'guest.bin'), testGuestImage());
    await mkdir(join(root, 'state'));
    const name = `shbr${systemRandom.integer(2 ** 31).toString(36)}`;
    const isMade = canBridge && (await succeeds('ip', ['link', 'add', name, 'type', 'bridge']));
    const world = new QemuWorld(root, { bridge: isMade ? name : undefined, qemu });
    // A test that ran out of time does not dispose.
    process.once('exit', () => {
      for (const pid of world.processes()) killIfThere(pid);
    });
    return world;
  }

  options(): QemuOptions {
    return {
      directory: this.directory,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      mayWrite: (path) => Promise.resolve(!this.#outdated.has(path)),
      limits: { answerMs: 2000, heartbeatMs: 200, endMs: 2000, agentMs: 1000, serialLogBytes: 128 * 1024 },
      ...(this.#boot !== undefined && { bootId: this.#boot }),
      ...this.#options,
    };
  }

  open(): Hypervisor {
    const hypervisor = openQemu(this.options());
    this.#opened.push(hypervisor);
    return hypervisor;
  }

  async makeDisk(name: string): Promise<DiskFile> {
    const path = join(this.#root, `${name}.qcow2`);
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', path, '16M']);
    return { path, format: 'qcow2' };
  }

  async makeOverlay(name: string, base: DiskFile): Promise<DiskFile> {
    const path = join(this.#root, `${name}.qcow2`);
    const backing = ['-b', base.path, '-F', base.format];
    await run('qemu-img', ['create', '-q', '-u', '-f', 'qcow2', ...backing, path, '16M']);
    return { path, format: 'qcow2' };
  }

  outdate({ path }: DiskFile): void {
    this.#outdated.add(path);
  }

  memoryPath(name: string): string {
    return join(this.#root, `${name}.memory`);
  }

  async pass(milliseconds: number): Promise<void> {
    await pass(milliseconds);
  }

  async type(id: string, keys: string): Promise<void> {
    const socket = await connectUnix(join(this.directory, 'machines', id, 'serial.sock'));
    socket.on('error', () => undefined).resume();
    await new Promise((resolve) => socket.write(keys, resolve));
    await pass(50);
    socket.destroy();
  }

  async kill(processId: number): Promise<void> {
    await this.#signal(processId, 'SIGKILL');
  }

  async freeze(processId: number): Promise<void> {
    await this.#signal(processId, 'SIGSTOP');
  }

  async thaw(processId: number): Promise<void> {
    await this.#signal(processId, 'SIGCONT');
  }

  async restartHost(): Promise<void> {
    for (const hypervisor of this.#opened) hypervisor.dispose();
    await this.#endProcesses();
    this.#boot = systemRandom.uuid();
  }

  async processCount(id: string): Promise<number> {
    return Promise.resolve(this.processes(id).length);
  }

  async traces(): Promise<readonly string[]> {
    const listed = async (name: string): Promise<string[]> => {
      const path = join(this.directory, name);
      const names = await readdir(path, { recursive: true }).catch(() => []);
      return names.map((entry) => join(name, entry));
    };
    const files = await Promise.all(['machines', 'persistent', 'removed'].map(listed));
    const ids = await readdir(join(this.directory, 'machines')).catch(() => []);
    const taps = (await readdir('/sys/class/net')).filter((name) =>
      ids.some((id) => name.startsWith(tapPrefix(id))),
    );
    const ports = (await this.bridge?.ports()) ?? [];
    return [...files.flat(), ...this.processes().map((pid) => `process ${pid}`), ...taps, ...ports].sort();
  }

  async dispose(): Promise<void> {
    for (const hypervisor of this.#opened) hypervisor.dispose();
    await this.#endProcesses();
    for (const port of (await this.bridge?.ports()) ?? []) await succeeds('ip', ['link', 'delete', port]);
    if (this.bridge) await succeeds('ip', ['link', 'delete', this.bridge.name]);
    await rm(this.#root, { recursive: true, force: true });
  }

  /** Processes that work in the directories of machines, or of one: they are found by nothing that the driver wrote down. */
  processes(id?: string): number[] {
    const directory = join(this.directory, 'machines', id ?? '');
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    // A pod network leaves its directory when it has started; its log stays open.
    const places = (pid: string): string[] => ['cwd', 'fd/1'].map((name) => placeOf(pid, name));
    return pids.filter((pid) => places(pid).some((place) => place.startsWith(directory))).map(Number);
  }

  async #signal(processId: number, signal: NodeJS.Signals): Promise<void> {
    if (!this.processes().includes(processId)) throw new Error(`process ${processId} is not one of these`);
    process.kill(processId, signal);
    if (signal === 'SIGKILL') await this.#isGone(processId);
  }

  async #endProcesses(): Promise<void> {
    const pids = this.processes();
    for (const pid of pids) killIfThere(pid);
    for (const pid of pids) await this.#isGone(pid);
  }

  async #isGone(pid: number): Promise<void> {
    while (this.processes().includes(pid)) await pass(5);
  }
}

/** Some end with the one before them. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Empty for a process that is gone, or a zombie. */
function placeOf(pid: string, name: string): string {
  try {
    return `${readlinkSync(`/proc/${pid}/${name}`)}/`;
  } catch {
    return '';
  }
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await run(program, [...args]);
    return true;
  } catch {
    return false;
  }
}
