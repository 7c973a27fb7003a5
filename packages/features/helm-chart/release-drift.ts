import type { KubeObject, Waiting } from '@sheaf/api';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { Job } from '@sheaf/api/workload/index';
import { releaseHash, releaseHashLabel, releaseRevisionLabel } from '@sheaf/ports';
import { jobHash } from './chart-job.ts';
import { namesOf } from './chart-names.ts';
import { newestRecord } from './hook-trouble.ts';

/** Selects all that Helm has written down of a release. */
export function revisionSelector(release: string): string {
  return `owner=helm,name=${release}`;
}

/** The release that Helm's own object is about; `undefined`: it is none. */
export function releaseOfRecord({ metadata: { labels = {} } }: KubeObject): string | undefined {
  return labels['owner'] === 'helm' ? labels['name'] : undefined;
}

/**
 * What somebody has done with the release since its Job has succeeded, by Helm's records of it; `undefined`: it is as the Job left it.
 * It is told and not undone: whoever goes back to an earlier revision in need does not want it to come back.
 */
export function releaseDrift(
  { chart, job }: { readonly chart: HelmChart; readonly job: Job },
  records: readonly KubeObject[],
): Waiting | undefined {
  const { targetNamespace, name } = namesOf(chart);
  const newest = newestRecord(records);
  const release = `its release ${name} in the namespace ${targetNamespace}`;
  if (!newest) return drift('ReleaseRemoved', `${release} is not there any more, as after helm uninstall`);
  const { labels = {} } = newest.metadata;
  const hash = labels[releaseHashLabel];
  const isDeployed = labels['status'] === 'deployed';
  // An image of one's own writes none.
  const isOfJob = hash === undefined || hash === releaseHash(jobHash(job) ?? '');
  const { [releaseRevisionLabel]: made = labels['version'] } = labels;
  if (isDeployed && isOfJob && made === labels['version']) return undefined;
  const state = isDeployed ? 'of other values or of another version' : labels['status'];
  return drift(
    'ReleaseChanged',
    `${release} is ${state} in its revision ${labels['version']}, as after helm rollback or helm upgrade`,
  );
}

function drift(reason: string, text: string): Waiting {
  return {
    reason,
    text,
    nature: 'fault',
    wayOut:
      'set the annotation sheaf.dev/retry to another text, and it is made as it says; or change what it says, or take it away',
  };
}
