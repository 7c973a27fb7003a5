import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import type { Pod } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { Client, httpTransport, readKubeconfig, resources } from '@sheaf/client';
import { openPodman } from '@sheaf/drivers/podman';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { guestArchive } from '@sheaf/testkit/containers/index';
import { type ProgramResult, runProgram } from '../program.ts';
import { type SheafProcess, startSheaf } from '../sheaf-process.ts';
import { guestTag } from './workload-host.ts';

const patienceMs = 120_000;
const stepMs = 100;
/** By which the first process of a pod is found on the host. */
const markName = 'SCENE_POD';

/** A whole Sheaf with real pods, and what is left of them on the host. */
export class ServiceScene {
  readonly directory: string;
  /** Of the bridge of its pods. */
  readonly bridgeName: string;
  #sheaf: SheafProcess | undefined;

  private constructor(directory: string, bridgeName: string) {
    this.directory = directory;
    this.bridgeName = bridgeName;
  }

  static async with(use: (scene: ServiceScene) => Promise<void>): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'sheaf-services-'));
    const scene = new ServiceScene(directory, await storeImage(join(directory, 'podman')));
    try {
      await scene.start();
      await use(scene);
    } finally {
      await scene.removePods();
      await scene.stop();
      await rm(directory, { recursive: true, force: true });
    }
  }

  get client(): Client {
    const text = readFileSync(join(this.directory, 'kubeconfig'), 'utf8');
    return new Client({ transport: httpTransport(readKubeconfig(text)), userAgent: 'service-scene' });
  }

  get port(): number {
    return Number(new URL(this.#sheaf?.url ?? '').port);
  }

  async start(): Promise<void> {
    this.#sheaf = await startSheaf({ directory: this.directory });
  }

  async stop(): Promise<void> {
    await this.#sheaf?.stop();
  }

  /** As when the power of the process fails: nothing is tidied. */
  async kill(): Promise<void> {
    process.kill(this.#sheaf?.pid ?? 0, 'SIGKILL');
    await this.stop();
  }

  async until(claim: () => Promise<boolean>, words: string): Promise<void> {
    const end = performance.now() + patienceMs;
    while (!(await claim())) {
      if (performance.now() > end) throw new Error(`${words}: never\n${await this.#story()}`);
      await pass(stepMs);
    }
  }

  pod(name: string, script: string): Pick<Pod, 'spec'> & { metadata: { name: string } } {
    const command = ['/bin/sh', '-c', script];
    const container = { name: 'c', image: guestTag, command, env: [{ name: markName, value: name }] };
    return { metadata: { name }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } };
  }

  /** Runs a shell in a container of the pod, with its files and its network. */
  async inPod(name: string, script: string): Promise<ProgramResult> {
    const target = ['--target', String(this.processOf(name)), '--mount', '--net'];
    return await runProgram('nsenter', [...target, '/bin/sh', '-c', script]);
  }

  /** Runs a program of Node in the network of the pod. */
  async nodeInPod(name: string, program: string): Promise<ProgramResult> {
    const target = ['--target', String(this.processOf(name)), '--net'];
    return await runProgram('nsenter', [...target, process.execPath, '--input-type=module', '-e', program]);
  }

  /** On the host. */
  processOf(name: string): number {
    const wanted = `${markName}=${name}`;
    const found = readdirSync('/proc').find(
      (pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(wanted),
    );
    if (found === undefined) throw new Error(`pod ${name} does not run`);
    return Number(found);
  }

  /** All rules of this Sheaf. */
  async rules(): Promise<readonly string[]> {
    const { out } = await runProgram('iptables-save', []);
    return out.split('\n').filter((line) => line.includes(`SHEAF-${this.bridgeName.slice(-10)}-`));
  }

  async removePods(): Promise<void> {
    const { client } = this;
    for (const resource of [resources.deployments, resources.replicaSets, resources.pods])
      await client.deleteCollection(
        resource,
        { namespace: 'default' },
        { gracePeriodSeconds: 0, propagationPolicy: 'Background' },
      );
    await this.until(
      () => Promise.resolve(!readdirSync('/sys/class/net').includes(this.bridgeName)),
      'all pods are gone',
    );
  }

  async #story(): Promise<string> {
    const { items } = await this.client.list(resources.pods, { namespace: 'default' });
    const pods = items.map(({ metadata, status }) => [
      metadata.name,
      status?.phase,
      status?.containerStatuses,
    ]);
    return `${JSON.stringify(pods)}\n${this.#sheaf?.log() ?? ''}`;
  }
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    // It has ended.
    return [];
  }
}

/** Before Sheaf has the directory. Tells the name of the bridge. */
async function storeImage(directory: string): Promise<string> {
  const parts = { directory, clock: systemClock, random: systemRandom, logger: silentLogger };
  const { containers, images, podBridge } = openPodman(parts);
  const { signal } = new AbortController();
  try {
    const { containers: found } = await containers.probe(signal);
    if (!found.isAvailable) throw new Error(found.reason);
    await images.load(guestArchive(guestTag), signal);
    return podBridge;
  } finally {
    containers.dispose();
  }
}

export async function authorityOf(
  scene: ServiceScene,
  podName: string,
): Promise<{ ca: string; token: string }> {
  const place = `/proc/${scene.processOf(podName)}/root/var/run/secrets/kubernetes.io/serviceaccount`;
  const read = async (name: string): Promise<string> => await readFile(join(place, name), 'utf8');
  return { ca: await read('ca.crt'), token: await read('token') };
}
