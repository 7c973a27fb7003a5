import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findStoredChart } from './chart-store.ts';
import type { HelmSession } from './helm-session.ts';
import type { OperationOrder } from './operation-order.ts';
import { pulledChart } from './pulled-chart.ts';

/** Where things are in the run of a container. */
export interface RunPlaces {
  /** What is mounted, below it. */
  readonly root: string;
  /** A directory of its own. */
  readonly work: string;
  /** Charts that this host has been given, for use without a network; empty: none. */
  readonly charts: string;
}

/** A file with the chart: what is mounted, what the host has, else what the repository gives. @throws HelmError */
export async function chartArchive(
  helm: HelmSession,
  order: OperationOrder,
  places: RunPlaces,
): Promise<string> {
  const here = (await mountedChart(order, places)) ?? findStoredChart(places.charts, order);
  return here ?? pulledChart(helm, order, places);
}

async function mountedChart(
  { name }: OperationOrder,
  { root, work }: RunPlaces,
): Promise<string | undefined> {
  const path = join(root, 'chart', `${name}.tgz.base64`);
  if (!existsSync(path)) return undefined;
  const archive = join(work, 'chart.tgz');
  await writeFile(archive, Buffer.from(await readFile(path, 'utf8'), 'base64'));
  return archive;
}
