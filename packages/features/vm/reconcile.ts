import { asJson, type KubeObject, timestampOf } from '@sheaf/api';
import { type Clock, jsonEqual, type Random, StatusError } from '@sheaf/base';
import { type Client, refOf } from '@sheaf/client';
import { again, done, type EventRecorder, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { type ClaimSources, readClaims } from './claim-reader.ts';
import { readExpansion, withTypesOf } from './instance-types/read-expansion.ts';
import type { LiveAbilities } from './live-size.ts';
import { withRefusal } from './machine-conditions.ts';
import { eventsOfMachine, eventsOfMachineStep, tell } from './machine-events.ts';
import { revisionNamePrefix } from './new-instance.ts';
import { type MachineStep, planVirtualMachine } from './plan.ts';
import { ensureVolumes, releaseVolumes, type VolumeParts } from './reconcile-volumes.ts';
import {
  isControlledBy,
  isDeleting,
  type VirtualMachine,
  type VirtualMachineInstance,
  type VirtualMachineSpec,
} from './virtual-machine.ts';
import { instanceResource, machineResource, type Revision, revisionResource } from './vm-resources.ts';

export interface MachineParts extends ClaimSources, VolumeParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly recorder: EventRecorder;
  readonly machines: ObjectCache<VirtualMachine>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly revisions: ObjectCache<Revision>;
  readonly abilities: () => LiveAbilities;
  /** Removes what outlives the instances of a machine: firmware variables, the state of its TPM. */
  readonly forgetPersistent: (machineUid: string, signal: AbortSignal) => Promise<void>;
}

const jitterSteps = 1_000_000;

/**
 * One pass over a virtual machine: its status first, then one step. An instance is made first: its coming brings the next pass, which
 * writes all that there is to say.
 */
export async function reconcileMachine(
  parts: MachineParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const machine = parts.machines.get(key);
  if (!machine) return done;
  const { namespace = '' } = machine.metadata;
  const volumeFault = isDeleting(machine) ? undefined : await ensureVolumes(parts, machine, signal);
  const plan = planVirtualMachine({
    machine,
    instance: parts.instances.get(key),
    startedSpec: await withTypesOf(
      parts.client,
      { machine, spec: startedSpecOf(parts.revisions, machine) },
      signal,
    ),
    claims: await readClaims(parts, { namespace, volumes: machine.spec.template.spec.volumes }, signal),
    abilities: parts.abilities(),
    volumeFault,
    expansion: isDeleting(machine) ? undefined : await readExpansion(parts.client, machine, signal),
    nowMs: parts.clock.now(),
    jitter: parts.random.integer(jitterSteps) / jitterSteps,
  });
  const write = (): Promise<VirtualMachine> =>
    writeStatus(parts.client, { ...machine, status: plan.status }, { old: machine, signal });
  const isMaking = plan.step.action === 'create-instance';
  const written = isMaking ? machine : await write();
  tell(parts.recorder, machine, eventsOfMachine(machine, plan.status));
  try {
    await takeStep(parts, { step: plan.step, machine: written }, signal);
  } catch (error) {
    if (isMaking) await tolerating('Conflict', write);
    await noteRefusal(parts, { step: plan.step, machine: written }, error);
    throw error;
  }
  return plan.recheckMs === undefined ? done : again(plan.recheckMs);
}

/** A change of its own that the rules of writing refuse keeps a machine waiting, and is to be seen. */
async function noteRefusal(
  { client, clock }: MachineParts,
  { step, machine }: StepOf<MachineStep>,
  error: unknown,
): Promise<void> {
  if (step.action !== 'update-machine' || isDeleting(machine)) return;
  if (!StatusError.is(error, 'Invalid') && !StatusError.is(error, 'Forbidden')) return;
  const old = machine.status?.conditions ?? [];
  const conditions = withRefusal(old, { words: error.message, now: timestampOf(clock) });
  if (conditions === old) return;
  await tolerating('Conflict', () =>
    client.updateStatus(machineResource, { ...machine, status: { ...machine.status, conditions } }),
  );
}

function startedSpecOf(
  revisions: ObjectCache<Revision>,
  { metadata }: VirtualMachine,
): VirtualMachineSpec | undefined {
  const own = revisionsOf(revisions, metadata);
  const newest = own.reduce<Revision | undefined>(
    (best, each) => ((each.revision ?? 0) > (best?.revision ?? -1) ? each : best),
    undefined,
  );
  return newest?.data?.spec;
}

function revisionsOf(
  revisions: ObjectCache<Revision>,
  { namespace = '', uid = '' }: KubeObject['metadata'],
): readonly Revision[] {
  const prefix = revisionNamePrefix(uid);
  return revisions.list(namespace).filter(({ metadata }) => metadata.name?.startsWith(prefix) === true);
}

/**
 * What outlives the instances of a machine and does not outlive the machine. That there is no instance is asked at the server: one
 * that has just been made still uses what would be taken from it.
 */
async function removeBelongings(
  parts: MachineParts,
  machine: VirtualMachine,
  signal: AbortSignal,
): Promise<void> {
  const instance = await parts.client.find(instanceResource, refOf(machine), signal);
  if (instance && isControlledBy(instance, machine))
    throw new StatusError({
      reason: 'Conflict',
      message: `instance ${machine.metadata.name} is still there; its end is waited for`,
    });
  await parts.forgetPersistent(machine.metadata.uid ?? '', signal);
  await releaseVolumes(parts, machine, signal);
}

/** A status that is as it should be is not written; one that someone else has changed meanwhile makes the pass fail and come again. */
async function writeStatus(
  client: Client,
  machine: VirtualMachine,
  { old, signal }: { readonly old: VirtualMachine; readonly signal: AbortSignal },
): Promise<VirtualMachine> {
  const [next, before] = [machine, old].map((each) => asJson(each)['status'] ?? {});
  if (jsonEqual(next, before)) return old;
  return client.updateStatus(machineResource, machine, { signal });
}

interface StepOf<T> {
  readonly step: T;
  readonly machine: VirtualMachine;
}

async function takeStep(
  parts: MachineParts,
  { step, machine }: StepOf<MachineStep>,
  signal: AbortSignal,
): Promise<void> {
  const { client } = parts;
  if (step.action === 'update-machine' && isDeleting(machine)) await removeBelongings(parts, machine, signal);
  switch (step.action) {
    case 'none':
      return;
    case 'update-machine':
      await client.update(machineResource, withVersionOf(step.machine, machine), { signal });
      return;
    case 'create-instance':
    case 'delete-instance':
      await takeToldStep(parts, { step, machine }, signal);
      return;
    case 'update-instance':
      await client.update(instanceResource, step.instance, { signal });
      return;
  }
}

type ToldStep = Extract<MachineStep, { action: 'create-instance' | 'delete-instance' }>;

/** What came of it is told in events; what someone else has done already is not. */
async function takeToldStep(
  parts: MachineParts,
  { step, machine }: StepOf<ToldStep>,
  signal: AbortSignal,
): Promise<void> {
  const { client, recorder } = parts;
  try {
    const isDone =
      step.action === 'create-instance'
        ? await createInstance(parts, { step, machine }, signal)
        : await tolerating('NotFound', () =>
            client.delete(instanceResource, refOf(machine), {
              uid: step.uid,
              signal,
              ...(step.isHasty === true ? { gracePeriodSeconds: 0 } : {}),
            }),
          );
    if (isDone) tell(recorder, machine, eventsOfMachineStep(step, machine));
  } catch (error) {
    // A conflict is an old picture: the next pass decides again.
    if (!signal.aborted && !StatusError.is(error, 'Conflict'))
      tell(recorder, machine, eventsOfMachineStep(step, machine, error));
    throw error;
  }
}

/**
 * A machine that was decided on from an old picture is not started: it may have run and ended since. The revision comes first, so
 * that no instance is without one.
 */
async function createInstance(
  { client, revisions }: MachineParts,
  { step, machine }: StepOf<Extract<MachineStep, { action: 'create-instance' }>>,
  signal: AbortSignal,
): Promise<boolean> {
  const now = await client.find(machineResource, refOf(machine), signal);
  if (now?.metadata.resourceVersion !== machine.metadata.resourceVersion) return false;
  await tolerating('AlreadyExists', () => client.create(revisionResource, step.revision, { signal }));
  const isMade = await tolerating('AlreadyExists', () =>
    client.create(instanceResource, step.instance, { signal }),
  );
  const older = revisionsOf(revisions, machine.metadata).filter(
    ({ metadata }) => metadata.name !== step.revision.metadata.name,
  );
  for (const each of older)
    await tolerating('NotFound', () => client.delete(revisionResource, refOf(each), { signal }));
  return isMade;
}

function withVersionOf(machine: VirtualMachine, { metadata }: VirtualMachine): VirtualMachine {
  const { resourceVersion } = metadata;
  return resourceVersion === undefined
    ? machine
    : { ...machine, metadata: { ...machine.metadata, resourceVersion } };
}

/** False: someone has done it already. */
async function tolerating(
  reason: 'NotFound' | 'AlreadyExists' | 'Conflict',
  act: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!StatusError.is(error, reason)) throw error;
    return false;
  }
}
