import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Addon } from '@sheaf/api/virtualization/index';
import type { JsonValue } from '@sheaf/base';
import { Client, httpTransport, readKubeconfig, resources } from '@sheaf/client';
import { packagedRepository } from '@sheaf/drivers/helm';
import { guestArchive } from '@sheaf/testkit/containers/index';
import { runProgram } from '../program.ts';
import { type SheafProcess, startSheaf } from '../sheaf-process.ts';
import { findHelm } from '../tools.ts';
import { removeRemains } from '../workloads/container-remains.ts';
import { containersAreMissing } from '../workloads/workload-host.ts';

const chartPath = fileURLToPath(new URL('./chart', import.meta.url));
const mainPath = fileURLToPath(new URL('../../apps/sheaf/main.ts', import.meta.url));
const guestTag = 'localhost/test/guest:1';
export const namespace = 'default';
/** Add-ons that each Sheaf has. */
const packagedCount = 8;
/** Bounds the waiting of a test; nothing that is asserted. */
const patienceMs = 180_000;

const helm = await findHelm();

/** Why add-ons cannot be tried here. */
export const addonsAreMissing = containersAreMissing ?? ('missing' in helm ? helm.missing : undefined);

/** A whole Sheaf with real containers and the real Helm, and charts that it has been given. */
export class AddonHost {
  readonly directory: string;
  readonly #helm: string;
  #sheaf: SheafProcess | undefined;
  #client: Client | undefined;

  private constructor(directory: string, program: string) {
    this.directory = directory;
    this.#helm = program;
  }

  /** `isBare`: without the image and the charts. */
  static async run(
    use: (host: AddonHost) => Promise<void>,
    { isBare = false }: { readonly isBare?: boolean } = {},
  ): Promise<void> {
    if ('missing' in helm) throw new Error(helm.missing);
    const host = new AddonHost(await mkdtemp(join(tmpdir(), 'sheaf-addons-')), helm.path);
    try {
      await host.start();
      if (!isBare) await host.#loadContent();
      await use(host);
    } finally {
      await host.#end();
    }
  }

  get client(): Client {
    if (!this.#client) throw new Error('Sheaf does not run');
    return this.#client;
  }

  get url(): string {
    if (!this.#sheaf) throw new Error('Sheaf does not run');
    return this.#sheaf.url;
  }

  /** Where it was before, unless `isElsewhere`: whoever is at work on the host goes on with it. */
  async start({
    isElsewhere = false,
    env = {},
  }: {
    readonly isElsewhere?: boolean;
    readonly env?: Readonly<Record<string, string>>;
  } = {}): Promise<void> {
    const listen = isElsewhere ? undefined : this.#sheaf && new URL(this.#sheaf.url).host;
    const sheaf = await startSheaf({
      directory: this.directory,
      env,
      ...(listen !== undefined && { listen }),
    });
    this.#sheaf = sheaf;
    const transport = httpTransport(readKubeconfig(await readFile(sheaf.kubeconfig, 'utf8')));
    this.#client = new Client({ transport, userAgent: 'test' });
    // Whoever has read that it is ready may ask for them.
    await this.client.list(resources.helmCharts);
    await this.client.list(resources.helmChartConfigs);
    const { items } = await this.client.list(resources.addons);
    if (items.length < packagedCount) throw new Error(`Sheaf is ready, and has ${items.length} add-ons`);
    await this.until('its node takes pods', async () => {
      const { items } = await this.client.list(resources.nodes);
      return items.some(({ status }) =>
        status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
      );
    });
  }

  get processId(): number {
    if (!this.#sheaf) throw new Error('Sheaf does not run');
    return this.#sheaf.pid;
  }

  /** As by the kernel: nothing is said to anybody. */
  async kill(): Promise<void> {
    const { pid = 0 } = this.#sheaf ?? {};
    process.kill(pid, 'SIGKILL');
    await this.#sheaf?.stop();
  }

  async make(name: string, spec: Partial<Addon['spec']> = {}): Promise<void> {
    await this.client.create(resources.addons, {
      metadata: { namespace, name, labels: { 'addon.harvesterhci.io/experimental': 'true' } },
      spec: {
        repo: packagedRepository,
        chart: 'pages',
        version: '1.0.0',
        enabled: false,
        valuesContent: '',
        ...spec,
      },
    });
  }

  async change(name: string, spec: { readonly [field: string]: JsonValue }): Promise<void> {
    await this.client.patch(resources.addons, { namespace, name }, { type: 'merge', body: { spec } });
  }

  async annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    const body = { metadata: { annotations } };
    await this.client.patch(resources.addons, { namespace, name }, { type: 'merge', body });
  }

  async addon(name: string): Promise<Addon> {
    return this.client.get(resources.addons, { namespace, name });
  }

  async reaches(name: string, state: string): Promise<void> {
    await this.until(`${name} is ${state}`, async () => (await this.addon(name)).status?.status === state);
  }

  /** `CHART STATUS` of each release. */
  async releases(): Promise<readonly string[]> {
    const text = await this.helm('list', '--all-namespaces', '--all', '--output', 'json');
    const listed = JSON.parse(text) as readonly { readonly chart: string; readonly status: string }[];
    return listed.map(({ chart, status }) => `${chart} ${status}`);
  }

  async helm(...args: readonly string[]): Promise<string> {
    const env = { KUBECONFIG: this.#sheaf?.kubeconfig, HOME: this.directory };
    const { code, out, err } = await runProgram(this.#helm, args, { env });
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${err}`);
    return out;
  }

  /** What the pod of an add-on serves at its own address; empty while it does not. */
  async page(name: string): Promise<string> {
    const { items } = await this.client.list(resources.pods, { namespace, labelSelector: `app=${name}` });
    const address = items.find(({ metadata }) => metadata.deletionTimestamp === undefined)?.status?.podIP;
    if (address === undefined) return '';
    return fetch(`http://${address}:8080/index.html`).then(
      (answer) => answer.text(),
      () => '',
    );
  }

  async until(what: string, claim: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + patienceMs;
    while (!(await claim())) {
      if (performance.now() > end) throw new Error(`${what}: this did not come; ${await this.#describe()}`);
      await pass(200);
    }
  }

  /** Names of what add-ons have made and is still there, beside volumes. */
  async remains(): Promise<readonly string[]> {
    const kinds = [
      resources.helmCharts,
      resources.jobs,
      resources.pods,
      resources.deployments,
      resources.secrets,
      resources.serviceAccounts,
    ];
    const lists = await Promise.all(kinds.map((kind) => this.client.list(kind, { namespace })));
    return lists
      .flatMap(({ items }) => items.map(({ metadata }) => metadata.name ?? ''))
      .filter((name) => name !== 'default');
  }

  async #loadContent(): Promise<void> {
    await this.#loadGuest();
    for (const version of ['1.0.0', '1.1.0']) await this.#loadChart(version);
  }

  async #loadGuest(): Promise<void> {
    const file = join(this.directory, 'guest.tar');
    const parts: Uint8Array[] = [];
    for await (const part of guestArchive(guestTag)) parts.push(part);
    await writeFile(file, Buffer.concat(parts));
    const args = [mainPath, 'images', 'import', file, '--kubeconfig', this.#sheaf?.kubeconfig ?? ''];
    const { code, err } = await runProgram(process.execPath, args, { timeout: patienceMs });
    if (code !== 0) throw new Error(`the image of the guest cannot be loaded: ${err}`);
  }

  async #loadChart(version: string): Promise<void> {
    const charts = join(this.directory, 'charts');
    await mkdir(charts, { recursive: true });
    await this.helm('package', chartPath, '--version', version, '--destination', charts);
  }

  async #describe(): Promise<string> {
    const { items } = await this.client.list(resources.addons, { namespace });
    const states = items.map(({ metadata, status }) => [metadata.name, status]);
    return JSON.stringify({ states, remains: await this.remains() });
  }

  async #end(): Promise<void> {
    for (const resource of [resources.addons, resources.helmCharts, resources.deployments, resources.jobs])
      await this.client
        .deleteCollection(resource, { namespace }, { propagationPolicy: 'Background' })
        .catch(() => undefined);
    await this.until('nothing is left', async () => {
      const { items } = await this.client.list(resources.pods, { namespace });
      return items.length === 0;
    }).catch(() => undefined);
    await this.#sheaf?.stop();
    // The end of a pod is told before all of its container has gone.
    await removeRemains(this.directory);
    await rm(this.directory, { recursive: true, force: true });
  }
}
