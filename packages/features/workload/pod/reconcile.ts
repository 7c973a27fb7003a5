import { identityOf, timestampOf } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type { Container, Pod, Service } from '@sheaf/api/workload/index';
import { type Clock, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Containers, PodVolume, PodVolumes } from '@sheaf/ports';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { recheck } from '../pods/recheck.ts';
import type { StartProblem } from './container-status.ts';
import { type HostView, lookFor } from './host-view.ts';
import type { ImageKeeper } from './image-keeper.ts';
import { lastWordsOf } from './last-words.ts';
import { type PodFacts, type PodStep, type ProbeFacts, planPod } from './plan.ts';
import { type PodData, readPodData } from './pod-content.ts';
import { deadlineInMs, deletedPhase, hasJustEnded, planEnd } from './pod-end.ts';
import type { ProbeRunner } from './probe-runner.ts';
import { isEphemeral, policyAfter, restartInMs } from './restart.ts';
import { runsOf, sandboxesOf } from './run-ids.ts';
import type { PodEvent, RunLauncher } from './run-launcher.ts';
import type { RunStopper } from './run-stopper.ts';
import { type ClusterNames, planSandboxSpec } from './sandbox-plan.ts';
import type { StartHooks } from './start-hooks.ts';
import { planPodStatus } from './status.ts';
import type { VolumeKeeper, VolumeOutcome } from './volume-keeper.ts';

export interface PodParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodeName: string;
  /** By UID: pods that are to run on this node. */
  readonly podOf: (uid: string) => Pod | undefined;
  readonly nodes: ObjectCache<NodeObject>;
  readonly services: ObjectCache<Service>;
  readonly containers: Containers;
  readonly volumes: PodVolumes;
  readonly view: HostView;
  readonly programView: HostView | undefined;
  readonly launcher: RunLauncher;
  readonly imageKeeper: Pick<ImageKeeper, 'publicNames'>;
  readonly stopper: RunStopper;
  readonly probes: ProbeRunner;
  readonly startHooks: StartHooks;
  readonly volumeKeeper: VolumeKeeper;
  readonly hostAddresses: () => readonly string[];
  readonly clusterNames: () => ClusterNames;
  readonly forget: (podUid: string) => void;
  readonly tell: (pod: Pod, event: PodEvent) => void;
}

/** What became of the steps of a pass. */
interface Outcome {
  readonly problems: Map<string, StartProblem>;
  /** When to look again, in milliseconds. */
  readonly waits: (number | undefined)[];
  isSandboxStarted: boolean;
}

const volumeRetryMs = 5000;
const sandboxRetryMs = 5000;
/** Files of mounted maps and secrets follow within this time. */
const refreshMs = 60_000;

/** One pass over a pod of this node, by its UID: what the API says of it and what is on the host. */
export async function reconcilePod(
  parts: PodParts,
  uid: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const pod = parts.podOf(uid) ?? goneOf(uid);
  const outcome: Outcome = { problems: new Map(), waits: [], isSandboxStarted: false };
  const seen = await observe(parts, { pod, prepared: undefined }, signal);
  if (hasJustEnded(seen)) {
    // Whoever waits for its end need not wait for its network and volumes to go.
    outcome.waits.push(0);
    return conclude(parts, { facts: seen, outcome }, signal);
  }
  const data = await readPodData(parts.client, pod, signal);
  const prepared = await prepareVolumes(parts, { pod, data, outcome }, signal);
  const volumes = prepared?.state === 'ready' ? prepared.volumes : [];
  let facts: PodFacts = { ...seen, ...(await volumeFacts(parts, { pod, prepared }, signal)) };
  let steps = await takeSteps(parts, { facts, data, volumes, outcome }, signal);
  if (outcome.isSandboxStarted) {
    // What is to run in it follows at once.
    facts = await observe(parts, { pod, prepared }, signal);
    steps = await takeSteps(parts, { facts, data, volumes, outcome }, signal);
  }
  if (steps.some(({ action }) => action === 'let-go')) return done;
  // What runs is ended beside this pass; everything else has changed what there is.
  if (steps.some(({ action }) => action !== 'stop')) facts = await observe(parts, { pod, prepared }, signal);
  return conclude(parts, { facts, outcome }, signal);
}

/** A pod that the API does not know any more: it goes at once. */
function goneOf(uid: string): Pod {
  const deletionTimestamp = '1970-01-01T00:00:00Z';
  return { metadata: { uid, deletionTimestamp, deletionGracePeriodSeconds: 0 }, spec: { containers: [] } };
}

async function prepareVolumes(
  parts: PodParts,
  { pod, data, outcome }: { readonly pod: Pod; readonly data: PodData; readonly outcome: Outcome },
  signal: AbortSignal,
): Promise<VolumeOutcome | undefined> {
  const isOver = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
  if (pod.metadata.deletionTimestamp !== undefined || isOver) return undefined;
  const addresses = addressesOf(parts, pod);
  const node = parts.nodes.get(parts.nodeName);
  const prepared = await parts.volumeKeeper.ensure({ pod, data, node, ...addresses }, signal);
  if (prepared.state === 'ready') {
    outcome.waits.push(prepared.renewMs, (pod.spec.volumes ?? []).length > 0 ? refreshMs : undefined);
    return prepared;
  }
  const message = `MountVolume.SetUp failed for volume "${prepared.volumeName}" : ${prepared.message}`;
  parts.tell(pod, { type: 'Warning', reason: 'FailedMount', message });
  for (const { name } of pod.spec.containers)
    outcome.problems.set(name, { reason: 'ContainerCreating', message });
  outcome.waits.push(volumeRetryMs);
  return prepared;
}

function addressesOf(
  { hostAddresses }: PodParts,
  { status }: Pod,
): { readonly hostAddress: string; readonly podAddresses: readonly string[] } {
  return { hostAddress: hostAddresses()[0] ?? '', podAddresses: (status?.podIPs ?? []).map(({ ip }) => ip) };
}

interface PreparedPod {
  readonly pod: Pod;
  readonly prepared: VolumeOutcome | undefined;
}

async function volumeFacts(
  { volumes }: PodParts,
  { pod, prepared }: PreparedPod,
  signal: AbortSignal,
): Promise<Pick<PodFacts, 'areVolumesReady' | 'hasVolumes'>> {
  const hasVolumes = (await volumes.pods(signal)).includes(identityOf(pod).uid);
  return { areVolumesReady: prepared?.state === 'ready', hasVolumes };
}

async function observe(parts: PodParts, prepared: PreparedPod, signal: AbortSignal): Promise<PodFacts> {
  const { probes, startHooks, clock } = parts;
  const { pod } = prepared;
  const { uid } = identityOf(pod);
  const { sandboxes, containers } = await lookFor(parts, pod, signal);
  const runs = runsOf(uid, containers);
  const newest = (container: Container): ProbeFacts => {
    const run = runs.get(container.name)?.at(-1);
    // It is checked when its hook is done.
    if (run && startHooks.isUnderWay(run.observed.id)) return { isStarted: false, isReady: false };
    return probes.factsOf(pod, container, run);
  };
  const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const running = [...runs.values()].flat().filter(({ observed }) => observed.state === 'running');
  const runningIds = new Set(running.map(({ observed }) => observed.id));
  probes.keep(uid, runningIds);
  startHooks.keep(uid, runningIds);
  return {
    pod,
    sandboxes: sandboxesOf(uid, sandboxes),
    runs,
    ...(await volumeFacts(parts, prepared, signal)),
    probes: new Map(all.map((container) => [container.name, newest(container)])),
    isHookUnderWay: startHooks.isPodWaiting(uid),
    nowMs: clock.now(),
  };
}

interface StepContext {
  readonly facts: PodFacts;
  readonly data: PodData;
  readonly volumes: readonly PodVolume[];
  readonly step: PodStep;
  readonly outcome: Outcome;
}

type Taker<Action extends PodStep['action']> = (
  parts: PodParts,
  context: StepContext & { readonly step: Extract<PodStep, { readonly action: Action }> },
  signal: AbortSignal,
) => Promise<void>;

const takers: { readonly [Action in PodStep['action']]: Taker<Action> } = {
  'start-sandbox': startSandbox,
  start: startRun,
  stop: ({ stopper }, { facts, step }, signal) => {
    for (const run of step.runs) stopper.stop({ ...step, pod: facts.pod, run }, signal);
    return Promise.resolve();
  },
  'remove-runs': async ({ containers }, { step }, signal) => {
    for (const { observed } of step.runs) {
      await containers.removeContainer(observed.id, signal);
      await containers.removeLog(observed.id, signal);
    }
  },
  'end-sandbox': async ({ containers }, { step }, signal) => {
    for (const { sandbox } of step.sandboxes) await containers.endSandbox(sandbox.id, signal);
  },
  'remove-sandbox': async ({ containers }, { step }, signal) => {
    for (const { sandbox } of step.sandboxes) await containers.removeSandbox(sandbox.id, signal);
  },
  'remove-volumes': removeVolumes,
  'let-go': letGo,
};

async function takeSteps(
  parts: PodParts,
  context: Omit<StepContext, 'step'>,
  signal: AbortSignal,
): Promise<readonly PodStep[]> {
  const steps = planPod(context.facts);
  for (const step of steps) {
    const take = takers[step.action] as Taker<PodStep['action']>;
    await take(parts, { ...context, step }, signal);
  }
  return steps;
}

async function startSandbox(
  { containers, clusterNames, tell }: PodParts,
  { facts, step, outcome }: StepContext & { readonly step: Extract<PodStep, { action: 'start-sandbox' }> },
  signal: AbortSignal,
): Promise<void> {
  const { pod } = facts;
  try {
    await containers.startSandbox(planSandboxSpec(pod, step.attempt, clusterNames()), signal);
    // One that has ended at once is not followed by another in the same pass.
    if (outcome.isSandboxStarted) outcome.waits.push(0);
    outcome.isSandboxStarted = true;
  } catch (error) {
    const message = `Failed to create pod sandbox: ${toError(error).message}`;
    tell(pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message });
    for (const { name } of pod.spec.containers)
      outcome.problems.set(name, { reason: 'ContainerCreating', message });
    outcome.waits.push(sandboxRetryMs);
  }
}

async function startRun(
  parts: PodParts,
  {
    facts,
    data,
    volumes,
    step,
    outcome,
  }: StepContext & { readonly step: Extract<PodStep, { action: 'start' }> },
  signal: AbortSignal,
): Promise<void> {
  const { pod, sandboxes } = facts;
  const { namespace, uid } = identityOf(pod);
  // The container before it has a hook.
  if (parts.startHooks.isPodWaiting(uid) && !isEphemeral(pod, step.order.container)) return;
  const seen = [...parts.services.list(namespace), ...parts.services.list('default').filter(isKubernetes)];
  const own = sandboxes.at(-1)?.sandbox.addresses ?? [];
  const [hostAddress = ''] = parts.hostAddresses();
  const result = await parts.launcher.launch(
    step.order,
    {
      pod,
      data,
      volumes,
      services: [...new Set(seen)],
      node: parts.nodes.get(parts.nodeName),
      hostAddress,
      podAddresses: pod.spec.hostNetwork ? [hostAddress] : own,
      runningOf: (name) =>
        facts.runs.get(name)?.findLast(({ observed }) => observed.state === 'running')?.observed.id,
    },
    signal,
  );
  if (result.state === 'started') outcome.waits.push(0);
  else outcome.problems.set(step.order.container.name, result.problem);
  if (result.state === 'failed') outcome.waits.push(result.retryMs);
}

function isKubernetes({ metadata }: Service): boolean {
  return metadata.name === 'kubernetes';
}

/** A pod whose volumes stay does not go: whoever waits for that reads why. */
async function removeVolumes(
  { volumes, tell }: PodParts,
  { facts: { pod } }: StepContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    await volumes.remove(identityOf(pod).uid, signal);
  } catch (error) {
    const message = `Unmounting its volumes failed: ${toError(error).message}`;
    if (!signal.aborted) tell(pod, { type: 'Warning', reason: 'FailedUnMount', message });
    throw error;
  }
}

/** Nothing of it is on this host: the API may forget it, once it says how it has ended. */
async function letGo(
  { client, podOf, forget }: PodParts,
  { facts }: StepContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid } = identityOf(facts.pod);
  if (podOf(uid)) {
    await tellEnd(client, facts, signal);
    await deleteIfThere(client, { namespace, name, uid }, signal);
  }
  forget(uid);
}

async function deleteIfThere(
  client: Client,
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.delete(resources.pods, { namespace, name }, { uid, gracePeriodSeconds: 0, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
  }
}

/** Who waits for the end of a pod goes by its phase, also where it never ran. */
async function tellEnd(client: Client, { pod, runs }: PodFacts, signal: AbortSignal): Promise<void> {
  const told = pod.status?.phase;
  if (told === 'Failed' || told === 'Succeeded') return;
  const status = { ...pod.status, phase: deletedPhase({ pod, runs }) ?? 'Failed' };
  await updateIfThere(client, { ...pod, status }, signal);
}

async function updateIfThere(client: Client, pod: Pod, signal: AbortSignal): Promise<void> {
  try {
    await client.updateStatus(resources.pods, pod, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

/** Writes down what is to be seen, and says when to look again. */
async function conclude(
  parts: PodParts,
  { facts, outcome }: { readonly facts: PodFacts; readonly outcome: Outcome },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { pod } = facts;
  if (parts.podOf(identityOf(pod).uid)) await writeStatus(parts, { facts, outcome }, signal);
  const restarts = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].map((container) =>
    restartWait(parts, facts, container),
  );
  const isGoing = pod.metadata.deletionTimestamp !== undefined;
  return recheck(
    ...outcome.waits,
    ...restarts,
    deadlineInMs(pod, facts.nowMs) || undefined,
    isGoing ? 1000 : undefined,
  );
}

function restartWait({ tell }: PodParts, facts: PodFacts, container: Container): number | undefined {
  const { pod, runs, nowMs } = facts;
  const newest = runs.get(container.name)?.at(-1);
  if (newest?.observed.state !== 'ended' || planEnd(facts)) return undefined;
  const isInit = (pod.spec.initContainers ?? []).includes(container);
  const policy = policyAfter(pod, container, { isInit, end: newest.observed.end });
  const waitMs = restartInMs(newest, policy, nowMs) || undefined;
  const { namespace, name, uid } = identityOf(pod);
  const message = `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`;
  if (waitMs !== undefined) tell(pod, { type: 'Warning', reason: 'BackOff', message });
  return waitMs;
}

async function writeStatus(
  parts: PodParts,
  { facts, outcome }: { readonly facts: PodFacts; readonly outcome: Outcome },
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, hostAddresses } = parts;
  const messages = await lastWordsOf(parts, facts, signal);
  const ids = new Set([...facts.runs.values()].flat().map(({ observed }) => observed.imageId));
  const imageNames = await parts.imageKeeper.publicNames(ids, signal);
  const extras = { problems: outcome.problems, messages, imageNames };
  const next = planPodStatus(facts, extras, { hostAddresses: hostAddresses(), now: timestampOf(clock) });
  if (next) await updateIfThere(client, next, signal);
}
