import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSheaf } from '../../tests/sheaf-process.ts';
import { type Answer, type Connection, connect } from '../client/connection.ts';
import { readKubeconfig, type Target } from '../client/kubeconfig.ts';
import { MachineWatch } from './serial-watch.ts';

export interface SubjectOptions {
  readonly directory: string;
  /** Where the wrapped emulator is. */
  readonly bin: string;
}

const machines = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const instances = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const overcommit = '/apis/harvesterhci.io/v1beta1/settings/overcommit-config';
const subresources = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines';

/** Sheaf with virtual machines, and one connection to it. */
export class Subject {
  readonly #options: SubjectOptions;
  #sheaf: Awaited<ReturnType<typeof startSheaf>>;
  #target: Target;
  connection: Connection;

  private constructor(
    options: SubjectOptions,
    parts: { sheaf: Awaited<ReturnType<typeof startSheaf>>; target: Target; connection: Connection },
  ) {
    this.#options = options;
    this.#sheaf = parts.sheaf;
    this.#target = parts.target;
    this.connection = parts.connection;
  }

  static async start(options: SubjectOptions): Promise<Subject> {
    const subject = new Subject(options, await open(options));
    await subject.#until(machines, (status) => status === 200);
    await subject.#until('/api/v1/namespaces/default', (status) => status === 200);
    await subject.#until(overcommit, (status) => status === 200);
    await subject.#promiseMore();
    return subject;
  }

  get pid(): number {
    return this.#sheaf.pid;
  }

  get kubeconfig(): string {
    return this.#sheaf.kubeconfig;
  }

  /** Where the driver keeps its machines. */
  get machineDirectory(): string {
    return join(this.#options.directory, 'machines', 'machines');
  }

  get hypervisorDirectory(): string {
    return join(this.#options.directory, 'machines');
  }

  async kill(): Promise<void> {
    this.connection.close();
    process.kill(this.#sheaf.pid, 'SIGKILL');
    await this.#sheaf.stop();
  }

  /** Starts again on the same data; resolves to the milliseconds until it is ready. */
  async startAgain(): Promise<number> {
    const begun = performance.now();
    const { host, port } = this.#target;
    const parts = await open(this.#options, `${host}:${port}`);
    this.#sheaf = parts.sheaf;
    this.#target = parts.target;
    this.connection = parts.connection;
    await this.#until('/readyz', (status) => status === 200);
    return performance.now() - begun;
  }

  async stop(): Promise<void> {
    this.connection.close();
    await this.#sheaf.stop();
  }

  /** Stops, and ends the machines that would run on. */
  async clear(): Promise<void> {
    await this.stop();
    for (const pid of new MachineWatch(this.machineDirectory, '').processes())
      if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  }

  async another(): Promise<Connection> {
    return connect(this.#target, 'http/1.1');
  }

  async create(name: string, body: string, connection = this.connection): Promise<void> {
    const path = `${machines}/${name}?fieldManager=bench`;
    const contentType = 'application/apply-patch+yaml';
    expect(await connection.request({ method: 'PATCH', path, contentType, body }), 201);
  }

  async stopMachine(name: string): Promise<void> {
    const body = JSON.stringify({ gracePeriod: 0 });
    const path = `${subresources}/${name}/stop`;
    expect(
      await this.connection.request({ method: 'PUT', path, contentType: 'application/json', body }),
      202,
    );
  }

  async delete(name: string): Promise<void> {
    const body = JSON.stringify({ gracePeriodSeconds: 0 });
    const request = { method: 'DELETE', path: `${machines}/${name}`, contentType: 'application/json', body };
    expect(await this.connection.request(request), 200);
  }

  /** Calls back with each piece of a watch of the instances. */
  async watchInstances(onText: (text: string) => void): Promise<() => void> {
    const connection = await this.another();
    await connection.stream({ method: 'GET', path: `${instances}?watch=1` }, (chunk) =>
      onText(chunk.toString()),
    );
    return () => connection.close();
  }

  async countInstances(phase?: string): Promise<number> {
    const { body } = await this.connection.request({ method: 'GET', path: instances });
    const { items } = JSON.parse(body.toString()) as { items: { status?: { phase?: string } }[] };
    return items.filter(({ status }) => phase === undefined || status?.phase === phase).length;
  }

  async listPage(limit: number): Promise<number> {
    const begun = performance.now();
    expect(await this.connection.request({ method: 'GET', path: `${machines}?limit=${limit}` }), 200);
    return performance.now() - begun;
  }

  /** A figure of a controller. */
  async metric(name: string, controller: string): Promise<number> {
    const { body } = await this.connection.request({ method: 'GET', path: '/metrics' });
    const line = new RegExp(`^${name}\\{name="${controller}"\\} (\\S+)$`, 'm').exec(body.toString())?.[1];
    return Number(line ?? Number.NaN);
  }

  /** The processors of a small host are promised as often as it takes to run all machines at once. */
  async #promiseMore(): Promise<void> {
    const body = JSON.stringify({ value: JSON.stringify({ cpu: 10_000, memory: 150, storage: 200 }) });
    const contentType = 'application/merge-patch+json';
    expect(await this.connection.request({ method: 'PATCH', path: overcommit, contentType, body }), 200);
  }

  async #until(path: string, claim: (status: number) => boolean): Promise<void> {
    while (!claim((await this.connection.request({ method: 'GET', path })).status)) await delay(10);
  }
}

async function open(
  { directory, bin }: SubjectOptions,
  listen?: string,
): Promise<{ sheaf: Awaited<ReturnType<typeof startSheaf>>; target: Target; connection: Connection }> {
  const sheaf = await startSheaf({
    directory,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    ...(listen === undefined ? {} : { listen }),
  });
  const target = await readKubeconfig(sheaf.kubeconfig);
  return { sheaf, target, connection: await connect(target, 'http/1.1') };
}

function expect({ status, body }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`status ${status}, not ${wanted}: ${body.toString().slice(0, 500)}`);
}

/** A machine without disks and cards. */
export function machineBody(
  name: string,
  options: { readonly runStrategy: string; readonly memoryMebibytes: number },
): string {
  const devices = {
    autoattachGraphicsDevice: false,
    autoattachPodInterface: false,
    autoattachMemBalloon: false,
  };
  const domain = { memory: { guest: `${options.memoryMebibytes}Mi` }, devices };
  return JSON.stringify({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: 'default' },
    spec: {
      runStrategy: options.runStrategy,
      template: { spec: { domain, terminationGracePeriodSeconds: 0 } },
    },
  });
}
