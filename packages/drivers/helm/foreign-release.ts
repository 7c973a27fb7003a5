import { failureNamed } from './failure-words.ts';
import { HelmError, type HelmSession } from './helm-session.ts';
import type { OperationOrder } from './operation-order.ts';

export interface ForeignRelease {
  readonly order: OperationOrder;
  /** The chart of a release that was made by hand alone; `undefined`: it was not. */
  readonly chart: string | undefined;
  /** Gives the file with the chart that is to be installed. */
  readonly archive: () => Promise<string>;
}

/**
 * A release of the same chart that somebody has made by hand is taken on; one of another chart is not: everything of it would go.
 * @returns false: it is not to be touched, and nothing is to be done. @throws HelmError
 */
export async function mayTakeOn(
  helm: HelmSession,
  { order, chart, archive }: ForeignRelease,
): Promise<boolean> {
  if (chart === undefined || order.takesOwnership) return true;
  if (order.kind === 'delete') return order.chart === '' || isNamed(order.chart, chart);
  const text = await helm.call(['show', 'chart', await archive()], { phase: 'fetch', isQuestion: true });
  const own = chartName(text);
  if (own === chart) return true;
  const words = `a release ${order.name} of the chart ${chart} is there already, made by hand; this one is of the chart ${own}`;
  throw new HelmError(failureNamed('ReleaseOfOthers'), words);
}

/** In what Helm tells of a chart. */
export function chartName(text: string): string | undefined {
  return /^name:\s*["']?([\w.-]+)/m.exec(text)?.[1];
}

/** `web`, `https://host/web-1.0.0.tgz`, `oci://host/charts/web`. */
export function isNamed(place: string, chart: string): boolean {
  const last = place.slice(place.lastIndexOf('/') + 1);
  return last === chart || last.startsWith(`${chart}-`);
}
