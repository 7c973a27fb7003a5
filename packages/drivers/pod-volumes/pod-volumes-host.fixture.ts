import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  statfs,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PodVolumeCapabilities, PodVolumeSpec, PodVolumes } from '@sheaf/ports';
import type { PodVolumesBench } from '@sheaf/ports/pod-volumes.contract';
import {
  currentBootId,
  isAlive,
  parseIdentity,
  signalProcess,
  waitForExit,
} from '../qemu/process-identity.ts';
import { findProgram } from '../qemu/run-program.ts';
import { systemClock } from '../system/register.ts';
import { namesIn } from './directory-layout.ts';
import { runTool } from './host-tools.ts';
import { detachLoops, loopsOf } from './loop-devices.ts';
import { mountsBelow, unmountAnyway } from './mount-table.ts';
import { openPodVolumes } from './register.ts';

const bootId = currentBootId();
const controlProcess = fileURLToPath(new URL('./control-process.fixture.ts', import.meta.url));

export interface DyingOrder {
  readonly program: string;
  readonly when: 'before' | 'after';
  readonly podUid: string;
  /** What is to be made; absent: everything of the pod is to be removed. */
  readonly volume?: PodVolumeSpec;
}

/** A directory of this host, which ends with all that is below it. */
export class PodVolumesHost implements PodVolumesBench {
  readonly #directory: string;
  readonly #root: string;
  readonly group = process.getuid?.() === 0 ? 4242 : (process.getgid?.() ?? 0);
  readonly #outdated = new Set<string>();
  #count = 0;
  volumes: PodVolumes;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#root = join(directory, 'real', 'root');
    this.volumes = this.#open();
  }

  static async use(use: (host: PodVolumesHost) => Promise<void>): Promise<void> {
    const directory = await mkdtemp(join(await realpath(tmpdir()), 'pod-volumes-'));
    await mkdir(join(directory, 'real'));
    await symlink('real', join(directory, 'link'));
    const host = new PodVolumesHost(directory);
    try {
      await use(host);
    } finally {
      await host.restartHost();
      await rm(host.#directory, { recursive: true, force: true });
    }
  }

  static async probe(): Promise<PodVolumeCapabilities> {
    let found: PodVolumeCapabilities | undefined;
    await PodVolumesHost.use(async ({ volumes }) => {
      found = await volumes.probe(new AbortController().signal);
    });
    if (!found) throw new Error('nothing was found out');
    return found;
  }

  hostPath(name: string): string {
    return join(this.#directory, 'host', name);
  }

  async read(path: string): Promise<string> {
    return await readFile(path, 'utf8');
  }

  async write(path: string, text: string): Promise<void> {
    await writeFile(path, text, { flush: true });
  }

  async entries(path: string): Promise<readonly string[]> {
    const names = (await readdir(path)).filter((name) => !name.startsWith('..') && name !== 'lost+found');
    return names.sort();
  }

  async look(path: string): Promise<{ readonly mode: number; readonly group: number }> {
    const { mode, gid } = await stat(path);
    return { mode: mode & 0o7777, group: gid };
  }

  versionOf(path: string): Promise<string> {
    return readlink(join(path, '..data'));
  }

  async capacity(path: string): Promise<number> {
    const { blocks, bsize } = await statfs(path);
    return blocks * bsize;
  }

  async makeDisk(bytes: number): Promise<{ readonly path: string; readonly format: 'qcow2' }> {
    const path = join(this.#directory, `disk ${++this.#count}, one.qcow2`);
    await runTool('qemu-img', 'create', '-q', '-f', 'qcow2', path, String(bytes));
    return { path, format: 'qcow2' };
  }

  async growDisk({ path }: { readonly path: string }, bytes: number): Promise<void> {
    await runTool('qemu-img', 'resize', '-q', '-f', 'qcow2', path, String(bytes));
  }

  /** Its first bytes, as a guest writes them. */
  async fillDisk({ path }: { readonly path: string }, bytes: Uint8Array): Promise<void> {
    const raw = join(this.#directory, 'content.raw');
    await writeFile(raw, bytes);
    await runTool('qemu-img', 'convert', '-n', '-f', 'raw', '-O', 'qcow2', '--target-is-zero', raw, path);
  }

  /** What takes away the steps that make a disk a directory of a pod, one more each time. */
  stepsBack(): readonly (() => Promise<void>)[] {
    const disk = join(this.#root, 'disks', 'pvc-1');
    const unbind = () => unmountAnyway(join(this.#root, 'pods', 'pod', 'volumes', 'data'));
    const unmount = async (): Promise<void> => {
      await unbind();
      await unmountAnyway(join(disk, 'mount'));
    };
    const detach = async (): Promise<void> => {
      await unmount();
      await detachLoops(join(disk, 'export'), systemClock);
    };
    const end = async (): Promise<void> => {
      await detach();
      await this.killExporters();
    };
    return [unbind, unmount, detach, end];
  }

  /**
   * Another life of the driver works on the same directory, and is killed when it calls a program: before that does anything,
   * or when it has done it.
   */
  async die(order: DyingOrder): Promise<void> {
    const programs = join(this.#directory, 'programs');
    await mkdir(programs, { recursive: true });
    const place = join(programs, order.program);
    const real = findProgram(order.program) ?? order.program;
    const script = `#!/bin/sh\n${order.when === 'after' ? `${real} "$@"\n` : ''}kill -KILL $PPID\n`;
    await writeFile(place, script, { mode: 0o755 });
    const child = spawn(process.execPath, [controlProcess, this.directory, JSON.stringify(order)], {
      stdio: 'inherit',
      env: { ...process.env, PATH: `${programs}:${process.env['PATH']}` },
    });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    await rm(place);
    if (signal !== 'SIGKILL') throw new Error(`${order.program} was not called, or the call did not end it`);
  }

  outdate({ path }: { readonly path: string }): void {
    this.#outdated.add(path);
  }

  async openDisk({ path }: { readonly path: string }): Promise<() => Promise<void>> {
    const holder = spawn('qemu-io', ['-f', 'qcow2', path], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(holder, 'exit');
    // It answers when it has opened the disk.
    holder.stdin.write('length\n');
    await once(holder.stdout, 'data');
    return async () => {
      holder.stdin.end();
      await ended;
    };
  }

  restart(): Promise<void> {
    this.volumes = this.#open();
    return Promise.resolve();
  }

  async restartHost(): Promise<void> {
    const disks = join(this.#root, 'disks');
    const mounts = (await mountsBelow(this.#directory)).toReversed();
    for (const { path, type } of mounts) if (!type.startsWith('fuse')) await unmountAnyway(path);
    for (const id of await namesIn(disks)) await detachLoops(join(disks, id, 'export'), systemClock);
    await this.killExporters();
    for (const { path } of mounts) await unmountAnyway(path);
    await this.restart();
  }

  /** As the driver is told it: behind a link. */
  get directory(): string {
    return join(this.#directory, 'link', 'root');
  }

  /** What shows the disks ends in the middle of its work. */
  async killExporters(): Promise<void> {
    for (const identity of await this.#exporters()) {
      signalProcess(identity, bootId, 'SIGKILL');
      await waitForExit(identity, { bootId, clock: systemClock, limitMs: 60_000 });
    }
  }

  async traces(): Promise<readonly string[]> {
    const disks = join(this.#root, 'disks');
    const ids = await namesIn(disks);
    const loops = await Promise.all(ids.map((id) => loopsOf(join(disks, id, 'export'))));
    return [
      ...(await namesIn(join(this.#root, 'pods'))),
      ...ids,
      ...(await mountsBelow(this.#directory)).map(({ path, device }) => `${device} ${path}`),
      ...loops.flat(),
      ...(await this.#exporters()).map(({ pid }) => `process ${pid}`),
    ];
  }

  async #exporters() {
    const disks = join(this.#root, 'disks');
    const found = [];
    for (const id of await namesIn(disks)) {
      const text = await readFile(join(disks, id, 'exporter.process'), 'utf8').catch(() => '');
      const identity = parseIdentity(text);
      if (identity && isAlive(identity, bootId)) found.push(identity);
    }
    return found;
  }

  #open(): PodVolumes {
    const mayWrite = (path: string) => Promise.resolve(!this.#outdated.has(path));
    return openPodVolumes({ directory: this.directory, clock: systemClock, mayWrite });
  }
}
