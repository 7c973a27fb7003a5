import { asJson, timestampOf } from '@sheaf/api';
import { memoryStartOf } from '@sheaf/api/virtualization/index';
import { type Clock, jsonEqual, StatusError, toError } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import type {
  DiskFile,
  Hypervisor,
  MachineFiles,
  MachineMemories,
  MachineObservation,
  MachineSpec,
} from '@sheaf/ports';
import {
  again,
  done,
  type EventRecorder,
  keyOf,
  type ObjectCache,
  type ReconcileResult,
} from '@sheaf/runtime';
import { type ClaimSources, readClaims } from './claim-reader.ts';
import { type ContainerDiskParts, readContainerDisks, removeContainerVolumes } from './container-disks.ts';
import { type GuestReport, readGuestInterfaces, readGuestOs } from './guest-report.ts';
import { type InstanceStep, type Preparation, planInstance } from './instance-plan.ts';
import { type RoomParts, takeGrowth, takeRoom } from './instance-room.ts';
import { eventsOfInstance, eventsOfInstanceStep, tell } from './machine-events.ts';
import { chooseMemory, type MemoryChoice } from './memory-start.ts';
import { bridgesOf, type NetworkPlugs, waitingNetworkOf } from './network-links.ts';
import type { GrowthObstacles } from './node-room.ts';
import { planDisks, prepareMachine } from './preparation.ts';
import type { SeedSources } from './seed/seed-image.ts';
import { withStepFailure } from './step-failure.ts';
import { isDeleting, isFinal, type VirtualMachine, type VirtualMachineInstance } from './virtual-machine.ts';
import { instanceResource } from './vm-resources.ts';

export interface InstanceParts extends ClaimSources, RoomParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly machines: ObjectCache<VirtualMachine>;
  readonly files: MachineFiles;
  /** Absent: no memory of machines is kept here. */
  readonly memories?: Pick<MachineMemories, 'list'> | undefined;
  /** Absent: this host has none. */
  readonly containers?: ContainerDiskParts | undefined;
  readonly readSeeds: (instance: VirtualMachineInstance, signal: AbortSignal) => Promise<SeedSources>;
  readonly findPlugs: (instance: VirtualMachineInstance) => NetworkPlugs;
}

/** How often a guest is asked for its addresses. */
const askGuestMs = 30_000;
/** The driver announces what a step has changed; this is for the case that it does not. */
const afterStepMs = 500;

/** One pass over an instance: its status first, then one step through the hypervisor. */
export async function reconcileInstance(
  parts: InstanceParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const instance = parts.instances.get(key);
  if (!instance) return done;
  try {
    return await passOver(parts, instance, signal);
  } finally {
    parts.starts.end(instance.metadata.uid ?? '');
  }
}

async function passOver(
  parts: InstanceParts,
  instance: VirtualMachineInstance,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const observation = await parts.hypervisor.find(instance.metadata.uid ?? '', signal);
  const preparation = await prepare(parts, { instance, observation }, signal);
  const obstacle =
    observation || preparation.state === 'waiting' ? undefined : await takeRoom(parts, instance, signal);
  const growth = await growthOf(parts, { instance, observation, preparation }, signal);
  if (obstacle?.reason === 'StartQueued') parts.starts.awaitTurn(keyOf(instance));
  const plan = planInstance({
    instance,
    hasOwner: hasOwner(parts, instance),
    observation,
    preparation,
    nodeName: parts.nodeName,
    obstacle,
    growth,
    guest: await askGuest(parts.hypervisor, observation, signal),
    liveMigration: parts.hypervisor.capabilities().liveMigration,
    nowMs: parts.clock.now(),
  });
  const written = await write(parts.client, { ...instance, status: plan.status }, { old: instance, signal });
  tell(parts.recorder, instance, eventsOfInstance({ before: instance, ...plan }));
  try {
    await takeStep(parts, { step: plan.step, instance: written }, signal);
    tell(parts.recorder, instance, eventsOfInstanceStep(plan.step));
  } catch (error) {
    await noteFailure(parts, { step: plan.step, instance: written }, toError(error));
    throw error;
  }
  return again(plan.recheckMs ?? (plan.step.action === 'none' ? askGuestMs : afterStepMs));
}

async function growthOf(
  parts: InstanceParts,
  { instance, observation, preparation }: Found & { readonly preparation: Preparation },
  signal: AbortSignal,
): Promise<GrowthObstacles> {
  if (observation?.state !== 'running' || preparation.state === 'waiting' || isDeleting(instance)) return {};
  const { cpu, memory } = preparation.spec;
  const wanted = { sockets: cpu.sockets, memoryBytes: memory.bytes };
  return takeGrowth(parts, { instance, wanted, observation }, signal);
}

/** What keeps an instance from its next step is to be seen in its status; who is in the way of writing that says so himself. */
async function noteFailure(
  { client, clock, recorder }: InstanceParts,
  { step, instance }: StepOf,
  error: Error,
): Promise<void> {
  // To release it is to write it.
  if (step.action === 'release' && StatusError.is(error)) return;
  const status = withStepFailure(instance.status ?? {}, { step, error, now: timestampOf(clock) });
  if (status === instance.status) return;
  tell(recorder, instance, eventsOfInstance({ before: instance, status, step }));
  try {
    await client.update(instanceResource, { ...instance, status });
  } catch (failure) {
    if (!StatusError.is(failure)) throw failure;
  }
}

function hasOwner({ machines }: InstanceParts, { metadata }: VirtualMachineInstance): boolean {
  const owner = metadata.ownerReferences?.find(
    ({ kind, controller }) => kind === 'VirtualMachine' && controller,
  );
  const machine = owner && machines.get(`${metadata.namespace ?? ''}/${owner.name}`);
  return machine !== undefined && machine.metadata.uid === owner?.uid;
}

interface Found {
  readonly instance: VirtualMachineInstance;
  readonly observation: MachineObservation | undefined;
}

/** It will not be started any more, so nothing is made for it. */
const ended: Preparation = {
  state: 'waiting',
  waiting: { reason: 'Ended', text: 'The instance has ended', nature: 'transient' },
};

/** With the files of its own made: they are cheap, and a machine that cannot be started yet needs none. */
async function prepare(
  parts: InstanceParts,
  { instance, observation }: Found,
  signal: AbortSignal,
): Promise<Preparation> {
  if (!observation && (isFinal(instance) || isDeleting(instance))) return ended;
  const { namespace = '', uid = '' } = instance.metadata;
  const plugs = parts.findPlugs(instance);
  const claims = await readClaims(parts, { namespace, volumes: instance.spec.volumes }, signal);
  const seeds = await parts.readSeeds(instance, signal);
  const isStarted = observation !== undefined;
  const containerDisks = await readContainerDisks(parts, { instance, isStarted }, signal);
  const plan = planDisks(instance, { claims, seeds, containerDisks, isStarted });
  const memory = await readMemory(parts, { instance, observation }, signal);
  const waiting = plan.waiting ?? waitingNetworkOf(plugs) ?? memory.waiting;
  if (waiting) return { state: 'waiting', waiting };
  const files = new Map<string, DiskFile>(plan.files);
  const options = { isInUse: isStarted, signal };
  for (const own of plan.own) files.set(own.name, await parts.files.ensure(uid, own, options));
  return prepareMachine(instance, { files, links: bridgesOf(plugs), memoryPath: memory.path });
}

/** A start that was cut off is gone on with as it was begun. */
async function readMemory(
  { machines, memories }: InstanceParts,
  { instance, observation }: Found,
  signal: AbortSignal,
): Promise<MemoryChoice> {
  const isBegun = observation !== undefined && observation.state !== 'starting';
  if (isBegun || !memories || !memoryStartOf(instance)) return {};
  return chooseMemory(instance, {
    machine: machines.get(keyOf(instance)),
    memories: await memories.list(signal),
  });
}

/** A guest owes no answer: what it does not say is not known. */
async function askGuest(
  hypervisor: Hypervisor,
  observation: MachineObservation | undefined,
  signal: AbortSignal,
): Promise<GuestReport | undefined> {
  if (observation?.state !== 'running' || !observation.isAgentConnected) return undefined;
  const { id } = observation;
  const ask = async (execute: string): Promise<unknown> => {
    try {
      return await hypervisor.askAgent(id, { execute }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  };
  return {
    os: readGuestOs(await ask('guest-get-osinfo')),
    interfaces: readGuestInterfaces(await ask('guest-network-get-interfaces')),
  };
}

async function write(
  client: Client,
  instance: VirtualMachineInstance,
  { old, signal }: { readonly old: VirtualMachineInstance; readonly signal: AbortSignal },
): Promise<VirtualMachineInstance> {
  const [next, before] = [instance, old].map((each) => asJson(each)['status'] ?? {});
  return jsonEqual(next, before) ? old : client.update(instanceResource, instance, { signal });
}

interface StepOf {
  readonly step: InstanceStep;
  readonly instance: VirtualMachineInstance;
}

async function takeStep(
  { hypervisor, files, client, containers }: InstanceParts,
  { step, instance }: StepOf,
  signal: AbortSignal,
): Promise<void> {
  const id = instance.metadata.uid ?? '';
  switch (step.action) {
    case 'start': {
      const { state } = await startWith(hypervisor, step.spec, signal);
      // What the next pass would do, without waiting for it.
      if (state === 'paused' && instance.spec.startStrategy !== 'Paused') await hypervisor.resume(id, signal);
      return;
    }
    case 'forget':
      await hypervisor.forget(id, signal);
      return;
    case 'release':
      // Here, and not with the process: there are files also where there never was one.
      await files.remove(id, signal);
      await removeContainerVolumes(containers, instance, signal);
      await client.update(instanceResource, released(instance, step.finalizers), { signal });
      return;
    default:
      await act(hypervisor, { id, step }, signal);
  }
}

/** What does not fit to the memory that it is to go on with stays so: the failure names what to do. */
async function startWith(
  hypervisor: Hypervisor,
  spec: MachineSpec,
  signal: AbortSignal,
): Promise<MachineObservation> {
  try {
    return await hypervisor.start(spec, signal);
  } catch (error) {
    if (spec.memoryPath === undefined || StatusError.is(error) || signal.aborted) throw error;
    const { message } = toError(error);
    throw new Error(`${message}: restart the machine, and it boots from its disks`, { cause: error });
  }
}

function released(instance: VirtualMachineInstance, finalizers: readonly string[]): VirtualMachineInstance {
  return { ...instance, metadata: { ...instance.metadata, finalizers: [...finalizers] } };
}

type MachineAct = Exclude<InstanceStep, { action: 'start' | 'forget' | 'release' }>;
type ActOf<Name extends MachineAct['action']> = Extract<MachineAct, { action: Name }>;
type Actor<Name extends MachineAct['action']> = (
  hypervisor: Hypervisor,
  id: string,
  step: ActOf<Name>,
) => (signal: AbortSignal) => Promise<unknown>;

const actors: { readonly [Name in MachineAct['action']]: Actor<Name> } = {
  none: () => () => Promise.resolve(),
  resume: (hypervisor, id) => (signal) => hypervisor.resume(id, signal),
  'press-power-button': (hypervisor, id) => (signal) => hypervisor.pressPowerButton(id, signal),
  end: (hypervisor, id) => (signal) => hypervisor.end(id, signal),
  'attach-disk':
    (hypervisor, id, { disk }) =>
    (signal) =>
      hypervisor.attachDisk(id, disk, signal),
  'detach-disk':
    (hypervisor, id, { name }) =>
    (signal) =>
      hypervisor.detachDisk(id, name, signal),
  'change-medium':
    (hypervisor, id, { name, file }) =>
    (signal) =>
      hypervisor.changeMedium(id, { name, file }, signal),
  'attach-nic':
    (hypervisor, id, { nic }) =>
    (signal) =>
      hypervisor.attachNic(id, nic, signal),
  'detach-nic':
    (hypervisor, id, { name }) =>
    (signal) =>
      hypervisor.detachNic(id, name, signal),
  'set-sockets':
    (hypervisor, id, { sockets }) =>
    (signal) =>
      hypervisor.setSockets(id, sockets, signal),
  'set-memory':
    (hypervisor, id, { bytes }) =>
    (signal) =>
      hypervisor.setMemory(id, bytes, signal),
};

async function act(
  hypervisor: Hypervisor,
  { id, step }: { readonly id: string; readonly step: MachineAct },
  signal: AbortSignal,
): Promise<void> {
  const actor = actors[step.action] as Actor<typeof step.action>;
  await actor(hypervisor, id, step)(signal);
}
