import type { Pod } from '@sheaf/api/workload/index';
import { type Client, resources } from '@sheaf/client';

const place = { namespace: 'default' };

/** What the API tells that is not as it was asked for, in words; nothing once all has come to its end. */
export async function statusFindings(client: Client, pods: readonly Pod[]): Promise<readonly string[]> {
  return [
    ...(await deploymentFindings(client)),
    ...(await setFindings(client)),
    ...(await jobFindings(client, pods)),
    ...pods.flatMap(podFindings),
  ];
}

/** What events have told of checks that failed; for whoever wonders why something is not ready. */
export async function failedChecks(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(resources.events, place);
  return items
    .filter((event) => event['reason'] === 'Unhealthy')
    .slice(-10)
    .map((event) => `${String(event['message'])}`);
}

async function deploymentFindings(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(resources.deployments, place);
  return items.flatMap(({ metadata, spec, status = {} }) => {
    const { replicas, updatedReplicas, availableReplicas, observedGeneration } = status;
    const told = [replicas, updatedReplicas, availableReplicas].every((count) => count === spec.replicas);
    return told && observedGeneration === metadata.generation
      ? []
      : [`deployment ${metadata.name}: ${JSON.stringify({ ...status, conditions: undefined })}`];
  });
}

async function setFindings(client: Client): Promise<readonly string[]> {
  const [stateful, daemons] = await Promise.all([
    client.list(resources.statefulSets, place),
    client.list(resources.daemonSets, place),
  ]);
  return [
    ...stateful.items
      .filter(({ metadata, spec, status = {} }) => {
        const counts = [status.replicas, status.readyReplicas ?? 0, status.updatedReplicas ?? 0];
        return (
          counts.some((count) => count !== spec.replicas) || status.observedGeneration !== metadata.generation
        );
      })
      .map(({ metadata, status }) => `stateful set ${metadata.name}: ${JSON.stringify(status)}`),
    ...daemons.items
      .filter(
        ({ metadata, status }) =>
          status?.numberReady !== 1 ||
          status.updatedNumberScheduled !== 1 ||
          status.observedGeneration !== metadata.generation,
      )
      .map(({ metadata, status }) => `daemon set ${metadata.name}: ${JSON.stringify(status)}`),
  ];
}

const wantedEnds = 2;

async function jobFindings(client: Client, pods: readonly Pod[]): Promise<readonly string[]> {
  const { items } = await client.list(resources.jobs, place);
  return items.flatMap(({ metadata, status }) => {
    const isComplete = status?.conditions?.some(
      ({ type, status: is }) => type === 'Complete' && is === 'True',
    );
    if (!isComplete) return [`job ${metadata.name} is not complete`];
    const ended = pods.filter(
      (pod) =>
        pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) &&
        pod.status?.phase === 'Succeeded',
    );
    return [
      ...(status?.succeeded === wantedEnds
        ? []
        : [`job ${metadata.name} counts ${status?.succeeded} ends, not ${wantedEnds}`]),
      ...(ended.length > wantedEnds ? [`job ${metadata.name} has ${ended.length} ends`] : []),
    ];
  });
}

function podFindings({ metadata, status }: Pod): readonly string[] {
  // The end of one that a drain has met is told by its job.
  const isGood = status?.phase === 'Running' || status?.phase === 'Succeeded';
  if (isGood && metadata.deletionTimestamp === undefined) return [];
  const waits = status?.containerStatuses?.map(({ state }) => state?.waiting?.reason ?? '').join();
  return [`pod ${metadata.name} is ${status?.phase} ${waits}, deleted ${metadata.deletionTimestamp}`];
}
