import { timestampOf } from '@sheaf/api';
import type { Deployment, Pod, ReplicaSet } from '@sheaf/api/workload/index';
import { type Clock, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type EventRecorder, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { type OwnedObjects, type Owner, referenceTo } from '../pods/owned-objects.ts';
import { claimsOf, isControlledBy } from '../pods/ownership.ts';
import { recheck } from '../pods/recheck.ts';
import { type DeploymentFacts, type DeploymentStep, planDeployment } from './plan.ts';
import { isOfTemplate, revisionsOf } from './revisions.ts';
import { replicasOf } from './scaling.ts';
import { deadlineInMs, planDeploymentStatus } from './status.ts';

export interface DeploymentParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly deployments: ObjectCache<Deployment>;
  readonly sets: OwnedObjects<ReplicaSet>;
  readonly pods: ObjectCache<Pod>;
}

/** What became of a step, as far as the status tells it. */
interface Outcome {
  readonly failure?: Error;
  readonly collisionCount?: number;
  readonly createdSet?: string;
}

/** One pass over a deployment: one step, then its status. */
export async function reconcileDeployment(
  parts: DeploymentParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const deployment = parts.deployments.get(key);
  if (!deployment) return done;
  const step = planDeployment(await readFacts(parts, deployment, signal));
  const outcome = await takeStep(parts, { deployment, step }, signal);
  // Its metadata was written: the status is that of the next pass.
  if (step.action !== 'renumber') await writeStatus(parts, { deployment, outcome }, signal);
  if (outcome.failure) throw outcome.failure;
  if (step.action === 'renumber') return done;
  if (step.action !== 'none') return again(0);
  const lateMs = deadlineInMs(deployment, parts.clock.now());
  return recheck(lateMs === 0 ? undefined : lateMs, parts.sets.doubtInMs);
}

async function readFacts(
  { sets, pods }: DeploymentParts,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<DeploymentFacts> {
  const { namespace = '' } = deployment.metadata;
  return { deployment, sets: await sets.list(namespace, signal), pods: pods.list(namespace) };
}

async function writeStatus(
  { client, clock, sets }: DeploymentParts,
  { deployment, outcome }: { readonly deployment: Deployment; readonly outcome: Outcome },
  signal: AbortSignal,
): Promise<void> {
  const { owned } = claimsOf(deployment, await sets.list(deployment.metadata.namespace ?? '', signal));
  const next = planDeploymentStatus({
    deployment,
    revisions: revisionsOf(deployment, owned),
    failure: outcome.failure?.message,
    createdSet: outcome.createdSet,
    collisionCount: outcome.collisionCount ?? deployment.status?.collisionCount,
    nowMs: clock.now(),
    now: timestampOf(clock),
  });
  if (next) await client.updateStatus(resources.deployments, next, { signal });
}

async function takeStep(
  parts: DeploymentParts,
  { deployment, step }: { readonly deployment: Deployment; readonly step: DeploymentStep },
  signal: AbortSignal,
): Promise<Outcome> {
  const { client, sets } = parts;
  const owner: Owner = { object: deployment, resource: resources.deployments };
  switch (step.action) {
    case 'none':
      return {};
    case 'create':
      return createSet(parts, { owner, deployment, set: step.set }, signal);
    case 'update':
      for (const set of step.sets) await updateSet(parts, { deployment, set }, signal);
      return {};
    case 'renumber':
      await client.update(resources.deployments, step.deployment, { signal });
      return {};
    case 'delete':
      for (const set of step.sets) await sets.delete(set, signal);
      return {};
    case 'adopt':
    case 'release':
      await sets[step.action](owner, step.sets, signal);
      return {};
  }
}

async function createSet(
  parts: DeploymentParts,
  {
    owner,
    deployment,
    set,
  }: { readonly owner: Owner; readonly deployment: Deployment; readonly set: ReplicaSet },
  signal: AbortSignal,
): Promise<Outcome> {
  const { namespace = '', name = '' } = set.metadata;
  const owned = { ...set, metadata: { ...set.metadata, ownerReferences: [referenceTo(owner)] } };
  try {
    await parts.sets.create(owned, signal);
    tellScale(parts, deployment, { name, before: 0, after: replicasOf(set) });
    return { createdSet: name };
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) return { failure: toError(error) };
    const there = await parts.client.find(resources.replicaSets, { namespace, name }, signal);
    // Made by a pass before this one, or on its way out.
    if (!there || (isControlledBy(there, deployment) && isOfTemplate(there, deployment.spec.template)))
      return {};
    return { collisionCount: (deployment.status?.collisionCount ?? 0) + 1 };
  }
}

async function updateSet(
  parts: DeploymentParts,
  { deployment, set }: { readonly deployment: Deployment; readonly set: ReplicaSet },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid } = set.metadata;
  const before = (await parts.sets.list(namespace, signal)).find(({ metadata }) => metadata.uid === uid);
  await parts.sets.update(set, signal);
  if (before) tellScale(parts, deployment, { name, before: replicasOf(before), after: replicasOf(set) });
}

function tellScale(
  { recorder }: DeploymentParts,
  { metadata }: Deployment,
  { name, before, after }: { readonly name: string; readonly before: number; readonly after: number },
): void {
  if (before === after) return;
  const { namespace = '', name: deployment = '', uid = '' } = metadata;
  recorder.record({
    about: { resource: resources.deployments, namespace, name: deployment, uid },
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled ${after > before ? 'up' : 'down'} replica set ${name} from ${before} to ${after}`,
  });
}
