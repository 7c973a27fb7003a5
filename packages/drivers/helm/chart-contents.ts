import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
  /** For this one alone: what is there when it is made was left by one that was killed, and may be secret. */
  readonly work: string;
  readonly images: Pick<ContainerImages, 'find'>;
  readonly checks: Pick<NetworkChecks, 'tcp'>;
  /** Of the environment: where proxies are. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const askMs = 5000;
/** Fillings of charts whose images are remembered: an add-on that is switched, or waits, is asked about again and again. */
const rememberedFillings = 100;
/** Docker Hub is reached by another name than its images have. */
const hubHost = 'registry-1.docker.io';

/** What operations on charts find on this host, and who could be asked for the rest. */
export class HostChartContents implements ChartContents {
  readonly #options: HostChartContentsOptions;
  /** By the digest of a chart and what it is filled with. */
  readonly #images = new Map<string, readonly string[]>();

  constructor(options: HostChartContentsOptions) {
    this.#options = options;
    rmSync(options.work, { recursive: true, force: true });
  }

  async missing(need: ChartNeed, signal: AbortSignal): Promise<MissingContent | undefined> {
    const { charts, work } = this.#options;
    await mkdir(work, { recursive: true, mode: 0o700 });
    if (need.content !== '') return this.#missingOfContent(need, signal);
    const archive = findStoredChart(charts, need);
    if (archive !== undefined) return this.#missingImages(need, archive, signal);
    const words = await this.#unreachable(repositoryOf(need), signal);
    return words === undefined ? undefined : { chart: wordsOf(need), images: [], unreachable: [words] };
  }

  async #missingOfContent(need: ChartNeed, signal: AbortSignal): Promise<MissingContent | undefined> {
    const work = await mkdtemp(join(this.#options.work, 'content-'));
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
    const { source, work } = this.#options;
    const program = source.find();
    if (program === undefined) return [];
    try {
      const digest = await digestOf(archive, need);
      const known = this.#images.get(digest);
      const images = known ?? (await imagesOfChart({ program, archive, need, work }, signal)).ofPods;
      this.#remember(digest, images);
      return images;
    } catch {
      signal.throwIfAborted();
      return [];
    }
  }

  /** The one that has not been asked for longest goes first. */
  #remember(digest: string, images: readonly string[]): void {
    this.#images.delete(digest);
    this.#images.set(digest, images);
    const [oldest] = this.#images.keys();
    if (this.#images.size > rememberedFillings && oldest !== undefined) this.#images.delete(oldest);
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

async function digestOf(archive: string, need: ChartNeed): Promise<string> {
  const { name, targetNamespace, values, set } = need;
  const filling = JSON.stringify([name, targetNamespace, values, set]);
  return createHash('sha256')
    .update(await readFile(archive))
    .update(filling)
    .digest('hex');
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
