import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dockerArchive } from '../../packages/drivers/podman/archive/image-archive.ts';
import { writeEngineFiles } from '../../packages/drivers/podman/engine-files.ts';
import { type EngineLayout, engineLayout } from '../../packages/drivers/podman/engine-layout.ts';
import { defaultLimits } from '../../packages/drivers/podman/engine-limits.ts';
import { EngineProbe } from '../../packages/drivers/podman/engine-probe.ts';
import { removeNetwork } from '../../packages/drivers/podman/network-traces.ts';
import { pauseImage } from '../../packages/drivers/podman/pause/pause-image.ts';
import { usualSubnets } from '../../packages/drivers/podman/pod-subnet.ts';
import { runPodman } from '../../packages/drivers/podman/podman-program.ts';
import { currentBootId } from '../../packages/drivers/qemu/process-identity.ts';
import { guestImage } from '../../packages/testkit/containers/guest-image.ts';
import { removeRemains } from '../../tests/workloads/container-remains.ts';

export const guestTag = 'localhost/bench/guest:1';
/** What the guest does on both sides. */
export const guestArguments = ['stay'];

/**
 * podman as a person would use it, in a directory of its own: with the runtime, the storage, the kind of network, the log and the
 * limits that Sheaf's engine chooses here.
 */
export class PodmanPeer {
  readonly #directory: string;
  readonly #layout: EngineLayout;
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#layout = engineLayout(join(directory, 'podman'));
  }

  /** @throws Error with the reason why no containers run here */
  static async open(directory: string): Promise<PodmanPeer> {
    const peer = new PodmanPeer(directory);
    try {
      await peer.#prepare();
    } catch (error) {
      await peer.close();
      throw error;
    }
    return peer;
  }

  /** `podman run -d`, until it ends: then the container's process runs. */
  async run(name: string): Promise<void> {
    const { networkName } = this.#layout;
    await this.#podman([...this.#runWords(name), '--network', networkName, guestTag, ...guestArguments]);
  }

  /** The same container in a pod of its own, as Sheaf makes them: a second one holds what the pod shares. */
  async runInPod(name: string): Promise<void> {
    const { networkName } = this.#layout;
    const infra = ['--infra-image', pauseImage().name, '--network', networkName];
    await this.#podman(['pod', 'create', ...infra, `pod-${name}`]);
    await this.#podman([...this.#runWords(name), '--pod', `pod-${name}`, guestTag, ...guestArguments]);
  }

  /** Killed and removed, as a pod without a time of grace. */
  async remove(name: string): Promise<void> {
    await this.#podman(['rm', '--force', '--time', '0', name]);
  }

  async removeInPod(name: string): Promise<void> {
    await this.#podman(['pod', 'rm', '--force', '--time', '0', `pod-${name}`]);
  }

  async removeAll(): Promise<void> {
    await this.#podman(['rm', '--all', '--force', '--time', '0']);
  }

  /** What the engine was told, without what names its directory. */
  settings(): Promise<string> {
    return settingsOf(this.#layout);
  }

  /** Nothing is left of it. What was under way is waited for, and nothing is begun any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    await removeEngine(this.#directory);
  }

  #runWords(name: string): readonly string[] {
    return ['run', '--detach', '--pull', 'never', '--log-driver', 'k8s-file', '--name', name];
  }

  async #prepare(): Promise<void> {
    const layout = this.#layout;
    await mkdir(this.#directory, { recursive: true });
    const probe = new EngineProbe({
      layout,
      bootId: currentBootId(),
      limits: defaultLimits,
      podSubnets: usualSubnets(layout.directory),
    });
    const { settings, capabilities } = await probe.run();
    const { containers, podNetwork } = capabilities;
    for (const needed of [containers, podNetwork])
      if (!needed.isAvailable) throw new Error(`${needed.reason}: ${needed.wayOut}`);
    if (settings === undefined) throw new Error('no engine was found');
    await writeEngineFiles(layout, settings);
    await this.#podman(['load', '--quiet'], dockerArchive([guestImage(guestTag)]));
    await this.#podman(['load', '--quiet'], dockerArchive([pauseImage()]));
  }

  async #podman(args: readonly string[], input?: Buffer): Promise<void> {
    if (this.#isClosed) throw new Error('the bench has ended');
    const running = runPodman(this.#layout, { args, ...(input && { input: once(input) }) });
    this.#running.add(running);
    try {
      const { status, errors } = await running;
      if (status !== 0) throw new Error(`podman ${args.join(' ')}: ${errors.trim()}`);
    } finally {
      this.#running.delete(running);
    }
  }
}

/** What an engine was told, without what differs between two directories. */
export async function settingsOf(layout: EngineLayout): Promise<string> {
  const files = [layout.containersConf, layout.storageConf];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.join('\n').replaceAll(layout.directory, '').replaceAll(layout.networkName, '');
}

/** Containers, mounts, network and files of the engine of a directory, whoever made them. */
export async function removeEngine(directory: string): Promise<void> {
  await removeRemains(directory);
  await removeNetwork(engineLayout(join(directory, 'podman')));
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
