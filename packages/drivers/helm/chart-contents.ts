import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  ChartContents,
  ChartNeed,
  CheckTarget,
  ContainerImages,
  MissingContent,
  NetworkChecks,
} from '@sheaf/ports';
import { findStoredChart } from './chart-store.ts';
import type { HelmSource } from './helm-source.ts';
import { imagesOfChart } from './render-chart.ts';

export interface HostChartContentsOptions {
  readonly source: HelmSource;
  /** Charts of this host. */
  readonly charts: string;
  readonly images: Pick<ContainerImages, 'find'>;
  readonly checks: Pick<NetworkChecks, 'tcp'>;
  /** Of the environment: where proxies are. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const askMs = 5000;
/** Docker Hub is reached by another name than its images have. */
const hubHost = 'registry-1.docker.io';

/** What operations on charts find on this host, and who could be asked for the rest. */
export class HostChartContents implements ChartContents {
  readonly #options: HostChartContentsOptions;

  constructor(options: HostChartContentsOptions) {
    this.#options = options;
  }

  async missing(need: ChartNeed, signal: AbortSignal): Promise<MissingContent | undefined> {
    const { charts } = this.#options;
    if (need.content !== '') return this.#missingOfContent(need, signal);
    const archive = findStoredChart(charts, need);
    if (archive !== undefined) return this.#missingImages(need, archive, signal);
    const words = await this.#unreachable(repositoryOf(need), signal);
    return words === undefined ? undefined : { chart: wordsOf(need), images: [], unreachable: [words] };
  }

  async #missingOfContent(need: ChartNeed, signal: AbortSignal): Promise<MissingContent | undefined> {
    const work = await mkdtemp(join(tmpdir(), 'sheaf-chart-'));
    try {
      const archive = join(work, 'chart.tgz');
      await writeFile(archive, Buffer.from(need.content, 'base64'));
      return await this.#missingImages(need, archive, signal);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  async #missingImages(
    need: ChartNeed,
    archive: string,
    signal: AbortSignal,
  ): Promise<MissingContent | undefined> {
    const images: string[] = [];
    for (const name of await this.#imagesOf(need, archive, signal))
      if (!(await this.#hasImage(name, signal))) images.push(name);
    const unreachable: string[] = [];
    const absent: string[] = [];
    for (const [registry, names] of byRegistry(images)) {
      const words = await this.#unreachable(`https://${registry}`, signal);
      if (words === undefined) continue;
      unreachable.push(words);
      absent.push(...names);
    }
    return absent.length === 0 ? undefined : { chart: undefined, images: absent, unreachable };
  }

  /** A chart whose templates cannot be filled tells so in its operation. */
  async #imagesOf(need: ChartNeed, archive: string, signal: AbortSignal): Promise<readonly string[]> {
    const program = this.#options.source.find();
    if (program === undefined) return [];
    try {
      return (await imagesOfChart({ program, archive, need }, signal)).ofPods;
    } catch {
      signal.throwIfAborted();
      return [];
    }
  }

  /** Without an engine nothing can be told of images; pods tell why there is none. */
  async #hasImage(name: string, signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#options.images.find(name, signal)) !== undefined;
    } catch {
      signal.throwIfAborted();
      return true;
    }
  }

  /** Why an address cannot be reached now; `undefined`: somebody is there. */
  async #unreachable(address: string, signal: AbortSignal): Promise<string | undefined> {
    const { checks, variables } = this.#options;
    const target = targetOf(proxyFor(address, variables) ?? address);
    if (!target) return undefined;
    const within = AbortSignal.any([signal, AbortSignal.timeout(askMs)]);
    const result = await checks.tcp(target, within);
    signal.throwIfAborted();
    return result.isHealthy ? undefined : `${address} cannot be reached: ${result.text}`;
  }
}

function repositoryOf({ repo, chart }: ChartNeed): string {
  return repo === '' ? chart : repo;
}

function wordsOf({ repo, chart, version }: ChartNeed): string {
  const from = repo === '' ? '' : ` of ${repo}`;
  return `${chart}${version === '' ? ', its newest version,' : ` ${version}`}${from}`;
}

function byRegistry(images: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const name of images) {
    const [first = ''] = name.split('/');
    const registry = first === 'docker.io' ? hubHost : first;
    found.set(registry, [...(found.get(registry) ?? []), name]);
  }
  return found;
}

function proxyFor(address: string, variables: HostChartContentsOptions['variables']): string | undefined {
  const names = address.startsWith('http:') ? ['http_proxy', 'HTTP_PROXY'] : ['https_proxy', 'HTTPS_PROXY'];
  return names.map((name) => variables[name]).find((value) => value !== undefined && value !== '');
}

/** `undefined` for what is no address: the operation says so. */
function targetOf(address: string): CheckTarget | undefined {
  const web = address.replace(/^oci:/, 'https:');
  const url = URL.canParse(web) ? new URL(web) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const usual = url.protocol === 'http:' ? 80 : 443;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || usual };
}
