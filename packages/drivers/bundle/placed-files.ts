import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { BundledChart } from '@sheaf/ports';
import { storedChartPath } from '../helm/chart-store.ts';
import { placeDurably, removeDurably } from '../local-disk/durable-files.ts';
import { refused } from './bundle-index.ts';

/** Puts a chart where operations look first; another one of its name and version makes room. */
export async function placeChart(charts: string, chart: BundledChart, from: string): Promise<void> {
  const path = storedChartPath(charts, chart);
  if (path === undefined)
    throw refused(
      `its chart ${chart.chart} ${chart.version} of ${JSON.stringify(chart.repo)} cannot be kept`,
    );
  await placeFile(from, path, 0o644);
}

/** Takes away the very chart of a bundle; one that somebody has put there instead stays. */
export async function removeChart(charts: string, chart: BundledChart): Promise<void> {
  const path = storedChartPath(charts, chart);
  const found = path !== undefined && (await stat(path).catch(() => undefined));
  if (!path || !found || (await digestOfFile(path)) !== chart.digest) return;
  await removeDurably([path]);
}

/** All of it is there, or what was before; also after a loss of power. */
export async function placeFile(from: string, to: string, mode: number): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  const fresh = `${to}.new`;
  await copyFile(from, fresh);
  await chmod(fresh, mode);
  await placeDurably(fresh, to);
}

/** `sha256:` and hex. */
export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return `sha256:${hash.digest('hex')}`;
}
