import type { Job } from '@sheaf/api/workload/index';
import { isJsonObject } from '@sheaf/base';
import type { ClientRequest } from '@sheaf/client';
import type { RequestTamper } from '@sheaf/testkit';

/** What can be put into add-ons on purpose: it must be found. */
export const plantedFaults = [
  /** A Job is that of an operation if it is no older, by the clock. */
  'comparesTimes',
  /** What has no namespace stays when its chart goes: another one is asked for instead. */
  'forgetsBinding',
  /** Every other Job is not named by what it is for, and neither it nor its pods by their chart: the next one does not meet them. */
  'namesAnew',
] as const;

export type PlantedFault = (typeof plantedFaults)[number];

/** What becomes of the controllers' requests; `undefined`: nothing. */
export function tamperOf(planted: ReadonlySet<PlantedFault>): RequestTamper | undefined {
  if (planted.has('forgetsBinding')) return withOtherBinding;
  if (!planted.has('namesAnew')) return undefined;
  let count = 0;
  return (request) => (isOfNewJob(request) && ++count % 2 === 1 ? renamed(request, count) : request);
}

function withOtherBinding(request: ClientRequest): ClientRequest {
  if (request.method !== 'DELETE' || !request.target.includes('/clusterrolebindings/')) return request;
  return { ...request, target: request.target.replace('/helm-', '/none-') };
}

export function isOfNewJob({ method, target }: ClientRequest): boolean {
  return method === 'POST' && target.endsWith('/jobs');
}

function renamed(request: ClientRequest, count: number): ClientRequest {
  const { value } = request;
  if (!isJsonObject(value)) return request;
  const { metadata, spec } = value as unknown as Job;
  const { labels: _, ...unlabelled } = metadata;
  const template = { ...spec.template, metadata: {} };
  const job = {
    ...value,
    metadata: { ...unlabelled, name: `${metadata.name}-${count}` },
    spec: { ...spec, template },
  };
  return { ...request, value: job as never };
}
