import type { Pod } from '@sheaf/api/workload/index';
import { isJsonObject } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { resourceOf } from './kinds.ts';
import { Picture, type Pictured } from './picture.ts';
import type { PodChange, Step, Story } from './story.ts';

/** A server with its controllers, the original or ours, and its time. */
export interface Subject {
  readonly client: Client;
  /** Milliseconds since 1970. */
  now(): number;
  pass(milliseconds: number): Promise<void>;
}

const usualSeconds = 3;
const betweenMs = 1500;

/** Plays a story in a namespace of its own, and takes a picture after each step. */
export async function playStory(subject: Subject, story: Story): Promise<ReadonlyMap<string, Pictured>> {
  const { client } = subject;
  const namespace = `status-${story.name}`;
  await client.create(resources.namespaces, { metadata: { name: namespace } });
  await client.create(resources.serviceAccounts, {
    metadata: { namespace, name: 'default' },
    automountServiceAccountToken: false,
  });
  const picture = new Picture(client, namespace);
  const pictures = new Map<string, Pictured>();
  for (const step of story.steps) {
    await take(subject, namespace, step);
    await subject.pass((step.seconds ?? usualSeconds) * 1000);
    pictures.set(step.title, await picture.take());
  }
  return pictures;
}

async function take(subject: Subject, namespace: string, step: Step): Promise<void> {
  const { client } = subject;
  if (step.atSecond !== undefined) await waitForSecond(subject, step.atSecond);
  for (const { kind, object } of step.create ?? []) {
    const resource = resourceOf(kind);
    const place = resource.namespaced ? { namespace } : {};
    const { metadata } = object;
    const placed = { ...(isJsonObject(metadata) ? metadata : {}), ...place };
    await client.create(resource, { ...object, metadata: placed });
  }
  if (step.patch) await patch(client, namespace, step.patch);
  if (step.delete) await remove(client, namespace, step.delete);
  for (const change of step.pods ?? []) await changePods(subject, namespace, change);
}

async function patch(
  client: Client,
  namespace: string,
  { kind, name, body }: NonNullable<Step['patch']>,
): Promise<void> {
  const resource = resourceOf(kind);
  const place = resource.namespaced ? { namespace, name } : { name };
  await client.patch(resource, place, { type: 'strategic', body });
}

async function remove(
  client: Client,
  namespace: string,
  { kind, name, propagation = 'Background' }: NonNullable<Step['delete']>,
): Promise<void> {
  await client.delete(resourceOf(kind), { namespace, name }, { propagationPolicy: propagation });
}

async function waitForSecond(subject: Subject, second: number): Promise<void> {
  const nowMs = subject.now() % 60_000;
  await subject.pass((second * 1000 - nowMs + 60_000) % 60_000);
}

async function changePods(subject: Subject, namespace: string, change: PodChange): Promise<void> {
  const { client } = subject;
  const { items } = await client.list(resources.pods, { namespace });
  const meant = items
    .filter(
      ({ metadata, status }) =>
        metadata.name?.startsWith(change.of) && status?.phase === (change.from ?? 'Pending'),
    )
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => textOf(a).localeCompare(textOf(b)));
  if (meant.length < (change.count ?? 1))
    throw new Error(
      `${change.count ?? 1} pods ${change.of}* are to be ${change.to}, there are ${meant.length}`,
    );
  // One after the other, so that what comes of it does not depend on who is faster.
  for (const pod of meant.slice(0, change.count)) {
    await client.updateStatus(resources.pods, { ...pod, status: statusFor(pod, change, subject.now()) });
    await subject.pass(betweenMs);
  }
}

function textOf({ metadata }: Pod): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}

function statusFor(pod: Pod, change: PodChange, nowMs: number): NonNullable<Pod['status']> {
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  const { to, exitCode = to === 'failed' ? 1 : 0 } = change;
  const isReady = to === 'ready';
  const hasEnded = to === 'succeeded' || to === 'failed';
  const condition = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: now } as const;
  const state = hasEnded
    ? {
        terminated: {
          exitCode,
          reason: exitCode === 0 ? 'Completed' : 'Error',
          startedAt: now,
          finishedAt: now,
        },
      }
    : { running: { startedAt: now } };
  return {
    ...pod.status,
    phase: hasEnded ? (to === 'succeeded' ? 'Succeeded' : 'Failed') : 'Running',
    conditions: [condition],
    startTime: now,
    containerStatuses: pod.spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      ready: isReady,
      restartCount: 0,
      state,
    })),
    ...change.status,
  };
}
