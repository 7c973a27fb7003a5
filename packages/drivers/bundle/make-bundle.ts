import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BundledImage, type BundledProgram, type BundleIndex, readImageName } from '@sheaf/ports';
import { bundleId } from './bundle-index.ts';
import { writeBundle } from './bundle-writer.ts';
import {
  ChartCollector,
  type ChartDescriptor,
  type ChartWish,
  type CollectedChart,
} from './collected-charts.ts';
import { ImageCollector } from './collected-images.ts';
import { hostPlatform } from './host-platform.ts';
import { PartStore } from './part-store.ts';
import { BundleError, runTool } from './run-tool.ts';
import { makeWorkDirectory } from './work-directory.ts';

export interface BundleWish {
  /** Where it is written; nothing is there yet. */
  readonly path: string;
  readonly charts: readonly ChartWish[];
  /** Beside those that the charts name. */
  readonly images: readonly string[];
  readonly carriesHelm: boolean;
}

export interface BundleMakerOptions {
  /** The Helm that is asked, and carried. */
  readonly helm: string;
  /** Charts and engine of a Sheaf on this host; they need not exist. */
  readonly chartsDirectory: string;
  readonly engineDirectory: string;
  readonly isInsecure: boolean;
  /** What is done now, a line each. */
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface MadeBundle {
  readonly id: string;
  readonly index: BundleIndex;
  readonly bytes: number;
}

/** Makes a bundle: all of it, or nothing and an error. @throws BundleError, HelmError */
export async function makeBundle(wish: BundleWish, options: BundleMakerOptions): Promise<MadeBundle> {
  if (existsSync(wish.path)) throw new BundleError(`${wish.path} is there already; name another file`);
  const place = dirname(wish.path);
  if (!existsSync(place)) throw new BundleError(`there is no directory ${place}; make it first`);
  const work = await makeWorkDirectory(place);
  try {
    const parts = new PartStore(join(work, 'parts'));
    const collected = await collectCharts(wish, { ...options, parts, work });
    const images = await collectImages(wish, collected, { ...options, parts, work });
    const programs = wish.carriesHelm ? [await collectHelm(parts, options)] : [];
    const index: BundleIndex = {
      formatVersion: 1,
      platform: hostPlatform(),
      purposes: [...new Set(wish.charts.map(({ purpose }) => purpose))].toSorted(),
      charts: unique(collected.flatMap(({ chart }) => chart ?? [])),
      images,
      programs,
      parts: parts.list(),
    };
    const descriptors = collected.flatMap(({ descriptor }) => descriptor ?? []);
    const unfinished = join(work, 'bundle');
    const layoutIndex = layoutOf(images, { descriptors, parts });
    const bytes = await writeBundle(unfinished, {
      index,
      layoutIndex,
      pathOf: (digest) => parts.pathOf(digest),
    });
    await rename(unfinished, wish.path);
    return { id: bundleId(index), index, bytes };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type Making = BundleMakerOptions & { readonly parts: PartStore; readonly work: string };

async function collectCharts({ charts }: BundleWish, making: Making): Promise<readonly CollectedChart[]> {
  const collector = new ChartCollector({ ...making, charts: making.chartsDirectory });
  const collected: CollectedChart[] = [];
  for (const wish of charts) {
    const { name, version } = wish;
    making.print(wish.purpose);
    const found = await collector.collect(wish).catch((error: unknown) => {
      const words = error instanceof Error ? error.message : String(error);
      throw new BundleError(`${wish.purpose}: ${words}`, { cause: error });
    });
    const has = found.chart?.version;
    if (has !== undefined && wish.file === undefined && has !== version)
      making.print(
        `note: ${name} asks for ${version === '' ? 'the newest version' : `the version ${version}`}, and the bundle has ${has}; without a network only exact versions are found, so set version to ${has}`,
      );
    collected.push(found);
  }
  return collected;
}

/** Those that pods need have to be had; what else may be one is taken where it can be. */
async function collectImages(
  wish: BundleWish,
  charts: readonly CollectedChart[],
  making: Making,
): Promise<readonly BundledImage[]> {
  const collector = new ImageCollector(making);
  const needed = new Set([...charts.flatMap(({ images }) => images.ofPods), ...wish.images.map(storedName)]);
  const images: BundledImage[] = [];
  for (const reference of [...needed].toSorted()) {
    making.print(`image ${reference}`);
    images.push(await collector.collect(reference));
  }
  const others = new Set(charts.flatMap(({ images: { others: names } }) => names));
  for (const reference of [...others].filter((name) => !needed.has(name)).toSorted())
    try {
      making.print(`image ${reference}`);
      images.push(await collector.collect(reference));
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      making.print(`note: left out, for no pod of the chart names it itself: ${error.message}`);
    }
  return images.toSorted((a, b) => (a.reference < b.reference ? -1 : 1));
}

function storedName(text: string): string {
  const name = readImageName(text);
  if (name) return name.stored;
  throw new BundleError(`${JSON.stringify(text)} is no name of an image: write REGISTRY/REPOSITORY:TAG`);
}

async function collectHelm(
  parts: PartStore,
  { helm, signal, print }: BundleMakerOptions,
): Promise<BundledProgram> {
  const version = (await runTool(helm, ['version', '--template', '{{.Version}}'], { signal }))
    .toString()
    .trim();
  print(`program helm ${version}`);
  const { digest } = await parts.copy(helm);
  return { name: 'helm', version, digest };
}

function unique<T>(items: readonly T[]): readonly T[] {
  const texts = [...new Set(items.map((item) => JSON.stringify(item)))].toSorted();
  return texts.map((text) => JSON.parse(text) as T);
}

/** What other programs read: skopeo and Helm's registries know everything in the bundle by it. */
function layoutOf(
  images: readonly BundledImage[],
  { descriptors, parts }: { readonly descriptors: readonly ChartDescriptor[]; readonly parts: PartStore },
): Uint8Array {
  const sizes = new Map(parts.list().map(({ digest, bytes }) => [digest, bytes]));
  const manifests = [
    ...images.map(({ reference, digest, mediaType }) => ({
      mediaType,
      digest,
      size: sizes.get(digest) ?? 0,
      annotations: { 'org.opencontainers.image.ref.name': reference },
    })),
    ...unique(descriptors),
  ];
  return Buffer.from(JSON.stringify({ schemaVersion: 2, manifests }));
}
