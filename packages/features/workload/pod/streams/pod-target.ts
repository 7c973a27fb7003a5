import type { ExtensionRequest } from '@sheaf/api';
import { identityOf } from '@sheaf/api';
import { chosenContainer, type Pod } from '@sheaf/api/workload/index';
import { badRequest, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Containers } from '@sheaf/ports';
import { runsOf, sandboxesOf } from '../run-ids.ts';

export interface PodStreamParts {
  readonly client: Client;
  readonly containers: Containers;
  /** Whose pods these containers are. */
  readonly nodeName: string;
}

export type PodRequest = Pick<ExtensionRequest, 'namespace' | 'name' | 'query' | 'signal'>;

/** A container of a pod that runs now. */
export interface RunningContainer {
  readonly pod: Pod;
  readonly name: string;
  readonly runId: string;
}

/** @throws StatusError 404 */
export async function podOf(client: Client, { namespace, name, signal }: PodRequest): Promise<Pod> {
  return await client.get(resources.pods, { namespace, name }, signal);
}

/** @throws StatusError 503 for a pod of another node */
export function checkNode({ metadata, spec }: Pod, nodeName: string): void {
  if (spec.nodeName === nodeName) return;
  throw new StatusError({
    reason: 'ServiceUnavailable',
    message: `pod ${metadata.name} is on node ${JSON.stringify(spec.nodeName)}, which this Sheaf has no way to; ask on that node`,
  });
}

/** A pod that has a place, and it is here. @throws StatusError */
async function placedPod({ client, nodeName }: PodStreamParts, request: PodRequest): Promise<Pod> {
  const pod = await podOf(client, request);
  if (!pod.spec.nodeName) throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  checkNode(pod, nodeName);
  return pod;
}

/** What the request is about, as the host has it now. @throws StatusError */
export async function runningContainer(
  parts: PodStreamParts,
  request: PodRequest,
): Promise<RunningContainer> {
  const pod = await placedPod(parts, request);
  const name = chosenContainer(pod, request.query.get('container') ?? '');
  const all = await parts.containers.listContainers(request.signal);
  const run = runsOf(identityOf(pod).uid, all)
    .get(name)
    ?.findLast(({ observed }) => observed.state === 'running');
  if (run) return { pod, name, runId: run.observed.id };
  throw badRequest(
    `unable to upgrade connection: container not found (${JSON.stringify(name)}): it does not run now; kubectl describe pod ${pod.metadata.name} says why`,
  );
}

export interface RunningPod {
  readonly pod: Pod;
  readonly sandboxId: string;
}

/** @throws StatusError */
export async function runningPod(parts: PodStreamParts, request: PodRequest): Promise<RunningPod> {
  const pod = await placedPod(parts, request);
  const all = await parts.containers.listSandboxes(request.signal);
  const newest = sandboxesOf(identityOf(pod).uid, all).at(-1);
  if (newest?.sandbox.state === 'ready') return { pod, sandboxId: newest.sandbox.id };
  const { phase = 'Pending' } = pod.status ?? {};
  throw badRequest(
    `unable to forward port because pod is not running. Current status=${phase}; kubectl describe pod ${pod.metadata.name} says why`,
  );
}
