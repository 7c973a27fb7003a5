import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import {
  openServerCertificates,
  type ServerCertificates,
  servingNames,
} from '@sheaf/apiserver/certificates/index';
import { silentLogger } from '@sheaf/base';
import type { ContainersWorld, WorldRegistry } from '@sheaf/ports/containers/containers.contract';
import { guestArchive, guestImage, guestIsMissing } from '@sheaf/testkit/containers/index';
import { findProgram } from '../qemu/run-program.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { ociArchive, packImage } from './archive/image-archive.ts';
import { Registry } from './archive/registry.fixture.ts';
import { type EngineLayout, engineLayout } from './engine-layout.ts';
import { mountsBelow, unmount, unmountBelow } from './mounts.ts';
import { natRules, removeNetwork } from './network-traces.ts';
import { openPodman, type Podman, type PodmanOptions } from './register.ts';

const { signal } = new AbortController();

/** Why the driver cannot be tried here. */
export const podmanIsMissing =
  guestIsMissing ??
  (process.getuid?.() === 0 ? undefined : 'containers need root') ??
  (['podman', 'runc', 'iptables'].every((name) => findProgram(name) !== undefined) &&
  existsSync('/usr/lib/podman/netavark')
    ? undefined
    : 'podman is not installed: apt-get install --no-install-recommends podman runc netavark iptables');

interface WorldOptions extends Partial<PodmanOptions> {
  /** Of the directory. */
  readonly name?: string;
}

/** A directory for containers that are real processes; all of them end with it. */
export class PodmanWorld implements ContainersWorld {
  readonly layout: EngineLayout;
  readonly guestTag = 'localhost/test/guest:1';
  readonly #root: string;
  readonly #options: Partial<PodmanOptions>;
  readonly #registries: Registry[] = [];
  readonly #subnet: PodSubnet;
  #opened: Podman | undefined;
  #boot: string | undefined;

  private constructor(root: string, subnet: PodSubnet, { name = 'state', ...options }: WorldOptions) {
    this.#root = root;
    this.#subnet = subnet;
    this.#options = options;
    this.layout = engineLayout(join(root, name));
  }

  /** With the guest's image stored. */
  static async make(options: WorldOptions = {}): Promise<PodmanWorld> {
    const root = realpathSync(await mkdtemp(join(tmpdir(), 'podman-')));
    const world = new PodmanWorld(root, await PodSubnet.take(), options);
    const { containers, images } = world.open();
    const { containers: isRunnable } = await containers.probe(signal);
    if (!isRunnable.isAvailable) throw new Error(isRunnable.reason);
    await images.load(world.archive('docker', world.guestTag), signal);
    containers.dispose();
    return world;
  }

  get subnet(): string {
    return this.#subnet.cidr;
  }

  options(): PodmanOptions {
    return {
      directory: this.layout.directory,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      podSubnets: [this.#subnet.cidr],
      limits: { heartbeatMs: 500, pullStallMs: 1500 },
      ...(this.#boot !== undefined && { bootId: this.#boot }),
      ...this.#options,
    };
  }

  open(): Podman {
    this.#opened = openPodman(this.options());
    return this.#opened;
  }

  /** Ends all sandboxes, and the driver. */
  async clear(): Promise<void> {
    this.#opened?.containers.dispose();
    const { containers } = this.open();
    try {
      for (const { id } of await containers.listSandboxes(signal)) {
        await containers.endSandbox(id, signal);
        await containers.removeSandbox(id, signal);
      }
    } finally {
      containers.dispose();
      for (const registry of this.#registries.splice(0)) await registry.close();
      await rm(join(this.#root, 'files'), { recursive: true, force: true });
    }
  }

  async dispose(): Promise<void> {
    this.#opened?.containers.dispose();
    const ids = await this.#engineIds();
    await this.#endProcesses();
    for (const id of ids) await forgetRun(id);
    await removeNetwork(this.layout);
    await unmountBelow(this.#root);
    await rm(this.#root, { recursive: true, force: true });
    this.#subnet.giveBack();
  }

  async *archive(kind: 'docker' | 'oci', tag: string): AsyncGenerator<Uint8Array> {
    if (kind === 'docker') yield* guestArchive(tag);
    else yield await Promise.resolve(ociArchive(guestImage(tag)));
  }

  async openRegistry(options: Parameters<ContainersWorld['openRegistry']>[0]): Promise<WorldRegistry> {
    const image = packImage(guestImage(this.guestTag));
    const certificates = options.isTls === true ? await this.#certificates() : undefined;
    const registry = await Registry.open({
      images: [image],
      ...(options.login && { login: options.login }),
      ...(options.isStalling === true && { stallsAfterBytes: Math.floor(image.layer.bytes.length / 2) }),
      ...(certificates && {
        certificate: { key: certificates.serving.privateKeyPem, cert: certificates.serving.certificatePem },
      }),
    });
    this.#registries.push(registry);
    return {
      reference: `${registry.address}/test/guest:1`,
      ...(certificates && { authority: certificates.authority.certificatePem }),
    };
  }

  async makeDirectory(name: string): Promise<string> {
    const path = join(this.#root, 'files', name);
    await mkdir(path, { recursive: true, mode: 0o755 });
    return path;
  }

  async writeFile(path: string, text: string): Promise<void> {
    await writeFile(path, text);
  }

  async makeLink(path: string, target: string): Promise<void> {
    await symlink(target, path);
  }

  async readFile(path: string): Promise<string> {
    return await readFile(path, 'utf8');
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
    const networks = await this.#networkPaths();
    const ids = await this.#engineIds();
    await this.#endProcesses();
    for (const id of ids) await forgetRun(id);
    for (const path of networks) {
      await unmount(path);
      await rm(path, { force: true });
    }
    await removeNetwork(this.layout);
    await unmountBelow(this.layout.directory);
    this.#boot = systemRandom.uuid();
  }

  /** Processes of the engine: its service, and those that watch over containers. */
  processes(pattern: RegExp): readonly number[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => {
      const words = commandOf(pid);
      return words.includes(this.layout.directory) && pattern.test(words);
    });
  }

  servicePid(): number {
    return Number(readFileSync(this.layout.serviceRecord, 'utf8').split(' ')[0]);
  }

  async traces(): Promise<readonly string[]> {
    const { layout } = this;
    const listed = async (path: string): Promise<string[]> => {
      const names = await readdir(path, { recursive: true }).catch(() => []);
      return names.map((name: string) => join(path, name));
    };
    const containers = await listed(join(layout.storage, 'overlay-containers'));
    const bridges = (await readdir('/sys/class/net')).filter((name) => name === layout.bridgeName);
    const rules = (await natRules()).filter((rule) => rule.includes(this.#subnet.prefix));
    const mounts = await mountsBelow(layout.directory);
    return [
      ...(await listed(layout.logs)),
      ...(await listed(layout.records)),
      ...(await listed(layout.subPaths)),
      ...(await listed(layout.names)),
      ...(await listed(layout.pulls)),
      ...containers.filter((path) => !/containers\.(json|lock)$/.test(path)),
      ...bridges,
      ...rules,
      ...mounts,
      ...this.processes(/conmon/).map((pid) => `process ${pid}`),
    ].toSorted();
  }

  async #endProcesses(): Promise<void> {
    const watchers = this.processes(/conmon/);
    const watched = watchers.flatMap(childrenOf);
    for (const pid of [...this.processes(/podman|conmon/), ...watched]) endNow(pid);
    for (const pid of [...watchers, ...watched]) while (isThere(pid)) await pass(5);
    while (this.processes(/podman|conmon/).length > 0) await pass(5);
  }

  /** Where networks of sandboxes are held. */
  async #networkPaths(): Promise<readonly string[]> {
    const containers = join(this.layout.storage, 'overlay-containers');
    const names = await this.#engineIds();
    const configs = await Promise.all(
      names.map((name) =>
        readFile(join(containers, name, 'userdata', 'config.json'), 'utf8').catch(() => ''),
      ),
    );
    return [...new Set(configs.flatMap((text) => text.match(/\/run\/netns\/netns-[0-9a-f-]+/g) ?? []))];
  }

  async #engineIds(): Promise<readonly string[]> {
    const names = await readdir(join(this.layout.storage, 'overlay-containers')).catch(() => []);
    return names.filter((name) => /^[0-9a-f]{64}$/.test(name));
  }

  async #certificates(): Promise<ServerCertificates> {
    const files = new Map<string, string>();
    return await openServerCertificates({
      files: {
        read: (name) => Promise.resolve(files.get(name)),
        write: (name, text) => Promise.resolve(void files.set(name, text)),
      },
      clock: systemClock,
      random: systemRandom,
      servingNames: servingNames({ hosts: [] }),
    });
  }
}

/** A network of this machine's that no other test has: one for each port that the kernel gives out only once at a time. */
export class PodSubnet {
  readonly cidr: string;
  /** Begins its addresses. */
  readonly prefix: string;
  readonly giveBack: () => void;

  private constructor(port: number, giveBack: () => void) {
    const third = (port >> 2) & 0xff;
    const second = 64 + (port >> 10);
    this.prefix = `100.${second}.${third}.`;
    this.cidr = `${this.prefix}${(port & 3) * 64}/26`;
    this.giveBack = giveBack;
  }

  static async take(): Promise<PodSubnet> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => {
      socket.bind(0, '127.0.0.1', resolve);
    });
    return new PodSubnet(socket.address().port, () => socket.close());
  }
}

/** What a restart of the host would take away: the runtime's state, and control groups. */
async function forgetRun(engineId: string): Promise<void> {
  await rm(join('/run/runc', engineId), { recursive: true, force: true });
  const groups = '/sys/fs/cgroup';
  for (const controller of ['', ...(await readdir(groups))])
    await rmdir(join(groups, controller, 'libpod_parent', `libpod-${engineId}`)).catch(() => undefined);
}

/** Its words, and where it runs. */
function commandOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return words && `${words} ${readlinkSync(`/proc/${pid}/cwd`)}`;
  } catch {
    return '';
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

function isThere(pid: number): boolean {
  return commandOf(pid) !== '';
}
