import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A chart, as add-ons and charts ask for it. */
export interface ChartName {
  readonly repo: string;
  readonly chart: string;
  readonly version: string;
}

/** The repository of add-ons that are part of a release: its charts are those of the host. */
export const packagedRepository = 'http://harvester-cluster-repo.cattle-system.svc/charts';

const namePattern = /^[A-Za-z0-9][\w.-]*$/;
const versionPattern = /^[\w.+-]+$/;

/**
 * Where the host keeps a chart, below its directory of charts: for the packaged repository directly, for others in a directory named
 * by the repository's digest. `undefined` for what cannot be kept: only exact versions can be told without asking a repository.
 */
export function storedChartPath(charts: string, name: ChartName): string | undefined {
  const place = placeOf(name);
  if (charts === '' || !place || !namePattern.test(place.chart) || !versionPattern.test(name.version))
    return undefined;
  return join(repositoryDirectory(charts, place.repo), `${place.chart}-${name.version}.tgz`);
}

/** The chart that the host keeps; `undefined`: it has none of this name. */
export function findStoredChart(charts: string, name: ChartName): string | undefined {
  const path = storedChartPath(charts, name);
  return path !== undefined && existsSync(path) ? path : undefined;
}

function repositoryDirectory(charts: string, repo: string): string {
  if (repo === packagedRepository) return charts;
  return join(charts, createHash('sha256').update(repo).digest('hex').slice(0, 16));
}

/** `oci://HOST/PATH` with NAME, and `oci://HOST/PATH/NAME`, are the same chart; one that is an address has it for its repository. */
function placeOf({ repo, chart }: ChartName): { readonly repo: string; readonly chart: string } | undefined {
  if (repo !== '') return { repo: repo.startsWith('oci://') ? repo.replace(/\/+$/, '') : repo, chart };
  const cut = chart.lastIndexOf('/');
  if (chart.startsWith('oci://') && cut > 'oci://'.length)
    return { repo: chart.slice(0, cut), chart: chart.slice(cut + 1) };
  return /^https?:\/\//.test(chart) ? { repo: chart, chart: 'chart' } : undefined;
}
