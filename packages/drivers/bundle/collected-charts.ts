import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundledChart, ChartNeed } from '@sheaf/ports';
import { parse } from 'yaml';
import { findStoredChart } from '../helm/chart-store.ts';
import { imagesOfChart } from '../helm/render-chart.ts';
import type { RenderedImages } from '../helm/rendered-images.ts';
import type { PartStore } from './part-store.ts';
import { BundleError, runTool } from './run-tool.ts';

/** A chart that a bundle is to carry, and what its templates are filled with. */
export interface ChartWish extends ChartNeed {
  /** A file with the chart; else it is fetched as `repo`, `chart` and `version` say. */
  readonly file?: string;
  /** For people: `Addon default/pages`. */
  readonly purpose: string;
}

export interface ChartCollectorOptions {
  readonly parts: PartStore;
  readonly work: string;
  readonly helm: string;
  /** Charts that a Sheaf on this host has; it need not exist. */
  readonly charts: string;
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
}

/** A chart, with what it would run. */
export interface CollectedChart {
  /** `undefined`: it is part of the object that asks for it. */
  readonly chart: BundledChart | undefined;
  readonly images: RenderedImages;
  /** As OCI programs find it in the bundle. */
  readonly descriptor: ChartDescriptor | undefined;
}

export interface ChartDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Metadata {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const configType = 'application/vnd.cncf.helm.config.v1+json';
const contentType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

/** Gets charts, by Helm with the settings of whoever makes the bundle. */
export class ChartCollector {
  readonly #options: ChartCollectorOptions;
  #count = 0;

  constructor(options: ChartCollectorOptions) {
    this.#options = options;
  }

  /** @throws BundleError, HelmError */
  async collect(wish: ChartWish): Promise<CollectedChart> {
    const { helm, work, signal } = this.#options;
    const archive = await this.#archiveOf(wish);
    const images = await imagesOfChart({ program: helm, archive, need: wish, work }, signal);
    if (wish.content !== '') return { chart: undefined, images, descriptor: undefined };
    const metadata = await this.#metadataOf(archive);
    const { digest, bytes } = await this.#options.parts.copy(archive);
    const chart = { ...nameOf(wish, metadata), digest };
    return { chart, images, descriptor: await this.#describe(metadata, { digest, bytes }) };
  }

  async #archiveOf(wish: ChartWish): Promise<string> {
    const { file, content, repo, chart } = wish;
    if (file !== undefined) return file;
    const directory = join(this.#options.work, `chart-${this.#count++}`);
    await mkdir(directory, { recursive: true });
    if (content !== '') {
      const path = join(directory, 'chart.tgz');
      await writeFile(path, Buffer.from(content, 'base64'));
      return path;
    }
    const here = findStoredChart(this.#options.charts, wish);
    if (here !== undefined) return here;
    try {
      return await this.#pull(wish, directory);
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      throw new BundleError(
        `the chart ${chart} of ${repo || 'its address'} cannot be had: ${error.message}; log in with helm registry login, or give its file: --chart FILE --repo ${repo}`,
        { cause: error },
      );
    }
  }

  async #pull({ repo, chart, version }: ChartWish, directory: string): Promise<string> {
    const { helm, isInsecure, signal } = this.#options;
    const isClassic = repo !== '' && !repo.startsWith('oci://');
    const source = repo === '' || isClassic ? chart : `${repo.replace(/\/+$/, '')}/${chart}`;
    const args = [
      ...['pull', source, '--destination', directory],
      ...(isClassic ? ['--repo', repo] : []),
      ...(version === '' ? [] : ['--version', version]),
      ...(isInsecure ? ['--insecure-skip-tls-verify'] : []),
    ];
    await runTool(helm, args, { signal });
    const [found] = (await readdir(directory)).filter((name) => name.endsWith('.tgz'));
    if (found === undefined) throw new BundleError('the repository gave no chart');
    return join(directory, found);
  }

  async #metadataOf(archive: string): Promise<Metadata> {
    const { helm, signal } = this.#options;
    const text = await runTool(helm, ['show', 'chart', archive], { signal });
    return parse(text.toString('utf8')) as Metadata;
  }

  /** The chart as Helm pushes it to registries, so that it can be copied to one from the bundle. */
  async #describe(
    metadata: Metadata,
    { digest, bytes }: { readonly digest: string; readonly bytes: number },
  ): Promise<ChartDescriptor> {
    const { parts } = this.#options;
    const config = await parts.addBytes(Buffer.from(JSON.stringify(metadata)));
    const manifest = await parts.addBytes(
      Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: manifestType,
          config: { mediaType: configType, digest: config.digest, size: config.bytes },
          layers: [{ mediaType: contentType, digest, size: bytes }],
        }),
      ),
    );
    // Tags know no plus sign; Helm writes it so.
    const tag = `charts/${metadata.name}:${metadata.version.replaceAll('+', '_')}`;
    const annotations = { 'org.opencontainers.image.ref.name': tag };
    return { mediaType: manifestType, digest: manifest.digest, size: manifest.bytes, annotations };
  }
}

/** As it is asked for: a chart that is an address has that for its name, and `v1.2` finds 1.2. A file has its own. */
function nameOf(wish: ChartWish, { name, version }: Metadata): Omit<BundledChart, 'digest'> {
  const { repo, chart, file } = wish;
  if (file !== undefined) return { repo, chart: name, version };
  const isSame = wish.version.replace(/^v/, '') === version.replace(/^v/, '');
  return { repo, chart, version: isSame ? wish.version : version };
}
