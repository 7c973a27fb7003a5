import { asJson, identityOf, timestampOf, type WaitedFor, type Waiting } from '@sheaf/api';
import type { PersistentVolumeClaim, VolumeSnapshot } from '@sheaf/api/virtualization/index';
import { type Clock, jsonEqual, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Hypervisor, Images, Volumes } from '@sheaf/ports';
import {
  again,
  done,
  type EventRecorder,
  type ReconcileResult,
  type RecordedEvent,
  waitFor,
} from '@sheaf/runtime';
import { type ClaimCaches, readClaim } from './claim-reader.ts';
import { planClaimStatus } from './claim-status.ts';
import { podsOn, usersOf, waitedForPod } from './claim-users.ts';
import { copiedFor, isCopy } from './copy-snapshot.ts';
import { waitingOfProgress, waitingOfRefusal } from './driver-refusal.ts';
import { growVolume } from './growth.ts';
import { type ClaimFacts, type ClaimStep, planClaim } from './plan.ts';
import { claimFinalizer, provisionerAnnotation, volumeNameOf, withoutFinalizers } from './volume-object.ts';

export interface ClaimParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly caches: ClaimCaches;
  readonly volumes: Volumes;
  readonly images: Pick<Images, 'find'>;
  readonly hypervisor: Pick<Hypervisor, 'list' | 'resizeDisk'>;
}

/** What somebody must change is looked at again seldom; what passes by itself soon: both are also told of changes. */
const faultMs = 60_000;
const transientMs = 5000;

/** What a step has come to. */
interface Outcome {
  readonly waiting?: Waiting | undefined;
  readonly error?: Error;
}

/** One pass over a claim: one step, then its status. */
export async function reconcileClaim(
  parts: ClaimParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const claim = parts.caches.claims.get(key);
  if (!claim) return dropLeftCopies(parts, key, signal);
  const facts = await readClaim(parts, claim, signal);
  const step = planClaim(facts);
  const outcome = await takeStep(parts, { step, facts }, signal);
  // The other writes change the claim itself: its status follows with the next pass.
  if (step.action !== 'update-claim' && step.action !== 'let-go')
    await writeStatus(parts, { facts, step, outcome }, signal);
  if (outcome.error) throw outcome.error;
  tell(parts, { facts, step, outcome });
  return resultOf(step, outcome);
}

/** A claim that went without its finalizer has left what was taken for it in another namespace. */
async function dropLeftCopies(
  { client, caches }: ClaimParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const left = caches.snapshots.list().filter((each) => copiedFor(each) === key && isCopy(each));
  if (left.length === 0) return done;
  const [namespace = '', name = ''] = key.split('/');
  // The cache may be behind.
  if (await client.find(resources.persistentVolumeClaims, { namespace, name }, signal)) return done;
  for (const snapshot of left) await dropCopy(client, snapshot, signal);
  return done;
}

interface StepOf {
  readonly step: ClaimStep;
  readonly facts: ClaimFacts;
}

async function takeStep(parts: ClaimParts, { step, facts }: StepOf, signal: AbortSignal): Promise<Outcome> {
  switch (step.action) {
    case 'none':
      return {};
    case 'wait':
      return { waiting: step.waiting };
    case 'make':
      return attempt(async () => waitingOfProgress(await parts.volumes.create(step.order, signal)), signal);
    case 'expand':
      return attempt(() => growVolume(parts, { facts, bytes: step.bytes }, signal), signal);
    case 'let-go':
      return letGo(parts, facts.claim, signal);
    default:
      await writeObject(parts.client, step, signal);
      return step.action === 'take-copy' ? { waiting: copyAwaited } : {};
  }
}

type ObjectStep = Exclude<ClaimStep, { readonly action: 'none' | 'wait' | 'make' | 'expand' | 'let-go' }>;

async function writeObject(client: Client, step: ObjectStep, signal: AbortSignal): Promise<void> {
  switch (step.action) {
    case 'update-claim':
      await client.update(resources.persistentVolumeClaims, step.claim, { signal });
      return;
    case 'publish':
      await client.create(resources.persistentVolumes, step.volume, { signal }).catch(ignoreExisting);
      return;
    case 'update-volume':
      await client.update(resources.persistentVolumes, step.volume, { signal });
      return;
    case 'take-copy':
      await client.create(resources.volumeSnapshots, step.snapshot, { signal }).catch(ignoreExisting);
      return;
    case 'drop-copy':
      await dropCopy(client, step.snapshot, signal);
      return;
  }
}

const copyAwaited: Waiting = {
  reason: 'SnapshotNotReady',
  text: 'A machine writes to its source; a snapshot of it is taken first',
  nature: 'transient',
};

async function dropCopy(client: Client, snapshot: VolumeSnapshot, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = identityOf(snapshot);
  await client
    .delete(resources.volumeSnapshots, { namespace, name }, { uid, signal })
    .catch((error: unknown) => {
      if (!StatusError.is(error, 'NotFound')) throw error;
    });
}

/** A refusal keeps the claim waiting; a failure does so, too, and is thrown once the claim says it. */
async function attempt(work: () => Promise<Waiting | undefined>, signal: AbortSignal): Promise<Outcome> {
  try {
    return { waiting: await work() };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const waiting = waitingOfRefusal(thrown);
    if (waiting) return { waiting };
    const error = toError(thrown);
    return { error, waiting: { reason: 'DriverFailed', text: error.message, nature: 'transient' } };
  }
}

function ignoreExisting(error: unknown): void {
  if (!StatusError.is(error, 'AlreadyExists')) throw error;
}

/** The caches may be behind; nothing is taken away before the server has said that nobody needs it. */
async function letGo(
  { client, volumes }: ClaimParts,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<Outcome> {
  const { namespace = '', name = '', uid = '' } = claim.metadata;
  const user = await findUser(client, { namespace, name }, signal);
  if (user)
    return { waiting: { reason: 'InUse', text: 'Somebody is on it', nature: 'transient', object: user } };
  const volume = await client.find(resources.persistentVolumes, { name: volumeNameOf(claim) }, signal);
  // With an object, the data are its own affair.
  if (!volume && !claim.spec.volumeName) {
    const refused = await attempt(() => volumes.remove(uid, signal).then(() => undefined), signal);
    if (refused.waiting) return refused;
  }
  await client.update(resources.persistentVolumeClaims, withoutFinalizers(claim, claimFinalizer), { signal });
  return {};
}

async function findUser(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<WaitedFor | undefined> {
  const machines = await client.list(resources.virtualMachineInstances, { namespace, signal });
  const [machine] = usersOf(name, machines.items);
  if (machine) return machine;
  const [pod] = podsOn(name, (await client.list(resources.pods, { namespace, signal })).items);
  return pod && waitedForPod(pod);
}

async function writeStatus(
  { client, clock }: ClaimParts,
  { facts, step, outcome }: StepOf & { readonly outcome: Outcome },
  signal: AbortSignal,
): Promise<void> {
  const { claim } = facts;
  const now = timestampOf(clock);
  const status = planClaimStatus(facts, { step, waiting: outcome.waiting, now });
  const next = { ...claim, status };
  if (jsonEqual(asJson(next)['status'] ?? {}, asJson(claim)['status'] ?? {})) return;
  await client.updateStatus(resources.persistentVolumeClaims, next, { signal });
}

function tell(
  { recorder }: ClaimParts,
  { facts: { claim }, step, outcome: { waiting } }: StepOf & { readonly outcome: Outcome },
): void {
  const told = waiting ? tellWaiting(claim, waiting) : tellStep(claim, step);
  if (told)
    recorder.record({ about: { resource: resources.persistentVolumeClaims, ...identityOf(claim) }, ...told });
}

type Told = Pick<RecordedEvent, 'type' | 'reason' | 'message'> | undefined;

function tellStep(claim: PersistentVolumeClaim, step: ClaimStep): Told {
  const { action } = step;
  if (step.action === 'update-claim' && isTakenOn(step.claim) && !isTakenOn(claim)) {
    const message = `Provisioning the volume of claim "${claim.metadata.namespace}/${claim.metadata.name}"`;
    return { type: 'Normal', reason: 'Provisioning', message };
  }
  if (action === 'publish') {
    const message = `Successfully provisioned volume ${volumeNameOf(claim)}`;
    return { type: 'Normal', reason: 'ProvisioningSucceeded', message };
  }
  if (action !== 'update-volume' || claim.status?.phase !== 'Bound') return undefined;
  return { type: 'Normal', reason: 'VolumeResizeSuccessful', message: 'Resize volume succeeded' };
}

function isTakenOn({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[provisionerAnnotation] !== undefined;
}

function tellWaiting({ status }: PersistentVolumeClaim, { nature, reason, text, wayOut }: Waiting): Told {
  if (nature === 'fault') {
    const failure = status?.phase === 'Bound' ? 'VolumeResizeFailed' : 'ProvisioningFailed';
    return { type: 'Warning', reason: failure, message: `${text}; ${wayOut ?? ''}` };
  }
  if (reason !== 'WaitForFirstConsumer') return undefined;
  return { type: 'Normal', reason, message: 'waiting for first consumer to be created before binding' };
}

function resultOf(step: ClaimStep, { waiting }: Outcome): ReconcileResult {
  if (waiting) return waitFor(waiting.text, waiting.nature === 'fault' ? faultMs : transientMs);
  // What the driver has done is seen by looking again.
  return step.action === 'make' || step.action === 'expand' ? again(0) : done;
}
