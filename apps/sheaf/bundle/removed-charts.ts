import type { HelmChart } from '@sheaf/api/virtualization/index';
import { listAt, textAt } from '../connect.ts';

export interface RemovedCharts {
  /** The lists of bundles, as the server tells them. */
  readonly before: unknown;
  readonly after: unknown;
  readonly installed: readonly HelmChart[];
}

/** What is installed of charts that no bundle has any more: nothing happens to it now, and its next operation will miss them. */
export function removedChartWords({ before, after, installed }: RemovedCharts): readonly string[] {
  const left = chartsOf(after);
  const gone = new Set([...chartsOf(before)].filter((chart) => !left.has(chart)));
  return installed.flatMap(({ metadata: { namespace, name }, spec }) => {
    const words = chartWords(spec);
    return gone.has(words)
      ? [`${words} is installed as ${namespace}/${name}, and its next change has to get it elsewhere`]
      : [];
  });
}

function chartsOf(list: unknown): ReadonlySet<string> {
  return new Set(listAt(list, 'items').flatMap((item) => listAt(item, 'charts').map(chartWords)));
}

function chartWords(named: unknown): string {
  return `the chart ${textAt(named, 'chart')} ${textAt(named, 'version')} of ${textAt(named, 'repo')}`;
}
