import type { KubeObject, Waiting } from '@sheaf/api';
import {
  givenMemoryAnnotation,
  type MemoryStart,
  memoryStartOf,
  startFromMemoryAnnotation,
} from '@sheaf/api/virtualization/index';
import type { MemoryObservation } from '@sheaf/ports';
import { claimNameOf } from './instance-spec.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';

/** Whether an instance goes on with memory that was kept; without a path: it boots. */
export interface MemoryChoice {
  readonly path?: string;
  /** Why that cannot be said yet, or what stands against it. */
  readonly waiting?: Waiting;
}

const boots: MemoryChoice = {};
const wayOut = 'restart the machine: then it boots from its disks';

/**
 * With what an instance that has no process yet is to start. The machine has to say that this very instance has been given the memory:
 * of two that were made for one start, only one has it, and none after it.
 */
export function chooseMemory(
  instance: VirtualMachineInstance,
  {
    machine,
    memories,
  }: {
    readonly machine: VirtualMachine | undefined;
    readonly memories: readonly MemoryObservation[];
  },
): MemoryChoice {
  const start = memoryStartOf(instance);
  if (!start || !machine) return boots;
  if (givenTo(machine) !== instance.metadata.uid)
    return isAskedFor(machine, instance) ? { waiting: notGiven } : boots;
  if (!areClaimsOf(instance, start)) return { waiting: otherDisks };
  const memory = memories.find(({ id, state }) => id === start.memoryId && state === 'kept');
  return memory ? { path: memory.path } : { waiting: memoryGone };
}

/** The machine gives its instance the memory, and asks for it no more; `undefined`: there is nothing to be given. */
export function withMemoryGiven(
  machine: VirtualMachine,
  instance: VirtualMachineInstance | undefined,
): VirtualMachine | undefined {
  if (!instance || !isAskedFor(machine, instance)) return undefined;
  const { [startFromMemoryAnnotation]: _, ...others } = machine.metadata.annotations ?? {};
  const annotations = { ...others, [givenMemoryAnnotation]: instance.metadata.uid ?? '' };
  return { ...machine, metadata: { ...machine.metadata, annotations } };
}

/** What an instance that is made now is told of the memory that its machine is to go on with. */
export function memoryAnnotationOf({ metadata }: KubeObject): Readonly<Record<string, string>> {
  const text = metadata.annotations?.[startFromMemoryAnnotation];
  return text === undefined ? {} : { [startFromMemoryAnnotation]: text };
}

function isAskedFor(machine: VirtualMachine, instance: VirtualMachineInstance): boolean {
  const text = machine.metadata.annotations?.[startFromMemoryAnnotation];
  return text !== undefined && text === instance.metadata.annotations?.[startFromMemoryAnnotation];
}

function givenTo({ metadata }: VirtualMachine): string | undefined {
  return metadata.annotations?.[givenMemoryAnnotation];
}

function areClaimsOf({ spec }: VirtualMachineInstance, { claims }: MemoryStart): boolean {
  const names = new Set((spec.volumes ?? []).flatMap((volume) => claimNameOf(volume) ?? []));
  return names.size === claims.length && claims.every((name) => names.has(name));
}

const notGiven: Waiting = {
  reason: 'MemoryNotGiven',
  text: 'It is about to be given the memory that it goes on with',
  nature: 'transient',
};

const otherDisks: Waiting = {
  reason: 'MemoryUnusable',
  text: 'It is to go on with memory that was kept with other disks',
  nature: 'fault',
  wayOut,
};

const memoryGone: Waiting = {
  reason: 'MemoryLost',
  text: 'The memory that it is to go on with is not there any more',
  nature: 'fault',
  wayOut,
};
