import type { Pod } from '@sheaf/api/workload/index';
import { type Client, resources } from '@sheaf/client';
import { type EngineContainer, engineContainers } from '../../workloads/container-remains.ts';

const place = { namespace: 'default' };

/** What is not as it was asked for, in words; nothing once all has come to its end. */
export async function findings(client: Client, directory: string): Promise<readonly string[]> {
  const { items: pods } = await client.list(resources.pods, place);
  const found = [
    ...(await deploymentFindings(client)),
    ...(await setFindings(client)),
    ...(await jobFindings(client)),
    ...pods.flatMap(podFindings),
  ];
  return [...found, ...hostFindings(pods, await engineContainers(directory))];
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
      .filter(
        ({ spec, status }) =>
          (status?.readyReplicas ?? 0) !== spec.replicas || status?.replicas !== spec.replicas,
      )
      .map(({ metadata, status }) => `stateful set ${metadata.name}: ${JSON.stringify(status)}`),
    ...daemons.items
      .filter(({ status }) => status?.numberReady !== 1)
      .map(({ metadata, status }) => `daemon set ${metadata.name}: ${JSON.stringify(status)}`),
  ];
}

async function jobFindings(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(resources.jobs, place);
  return items.flatMap(({ metadata, status }) => {
    const isComplete = status?.conditions?.some(
      ({ type, status: is }) => type === 'Complete' && is === 'True',
    );
    if (!isComplete) return [`job ${metadata.name} is not complete`];
    return status?.succeeded === 2 ? [] : [`job ${metadata.name} counts ${status?.succeeded} ends, not 2`];
  });
}

function podFindings({ metadata, status }: Pod): readonly string[] {
  const isGood = status?.phase === 'Running' || status?.phase === 'Succeeded';
  if (isGood && metadata.deletionTimestamp === undefined) return [];
  const waits = status?.containerStatuses?.map(({ state }) => state?.waiting?.reason ?? '').join();
  return [`pod ${metadata.name} is ${status?.phase} ${waits}, deleted ${metadata.deletionTimestamp}`];
}

/** Each pod that runs has one sandbox and each of its containers once; nothing else runs. */
function hostFindings(pods: readonly Pod[], containers: readonly EngineContainer[]): readonly string[] {
  const running = containers
    .filter(({ isRunning }) => isRunning)
    .map(({ name }) => name.replace(/_\d+$/, ''));
  const wanted = pods
    .filter(({ status }) => status?.phase === 'Running')
    .flatMap(({ metadata, spec }) => [
      `sandbox-${metadata.uid}`,
      ...spec.containers.map(({ name }) => `container-${metadata.uid}_${name}`),
    ]);
  const known = new Set(pods.map(({ metadata }) => metadata.uid));
  const strangers = containers
    .map(({ name }) => name)
    .filter((name) => !known.has(/^[a-z]+-([^_]+)_/.exec(name)?.[1] ?? ''));
  return [
    ...running.filter((name, index) => running.indexOf(name) !== index).map((name) => `${name} runs twice`),
    ...wanted.filter((name) => !running.includes(name)).map((name) => `${name} does not run`),
    ...running
      .filter((name) => !wanted.includes(name))
      .map((name) => `${name} runs, and nobody asked for it`),
    ...strangers.map((name) => `${name} belongs to no pod`),
  ];
}
