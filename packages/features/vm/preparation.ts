import type { Waiting } from '@sheaf/api';
import type { DiskFile, MachineFile } from '@sheaf/ports';
import type { ContainerDiskFact, ContainerDiskFacts } from './container-disks.ts';
import type { Preparation } from './instance-plan.ts';
import { claimNameOf, type VolumeSpec } from './instance-spec.ts';
import type { NicLinks } from './machine-nics.ts';
import { translateInstance, wholeOf } from './machine-spec.ts';
import { type SeedSources, seedOf } from './seed/seed-image.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';
import type { ClaimFact, ClaimFacts } from './volume-facts.ts';

/** What is known of the parts that an instance only names. */
export interface PartFacts {
  readonly claims: ClaimFacts;
  readonly seeds: SeedSources;
  readonly containerDisks: ContainerDiskFacts;
  /** It has its process already. */
  readonly isStarted: boolean;
}

/** Where the disks of an instance come from. */
export interface DiskPlan {
  /** Files that are there already. */
  readonly files: ReadonlyMap<string, DiskFile>;
  /** Files that are to be made before it is started. */
  readonly own: readonly MachineFile[];
  /** The first thing that is missing. */
  readonly waiting: Waiting | undefined;
}

/** Goes through the volumes of an instance. */
export function planDisks(instance: VirtualMachineInstance, parts: PartFacts): DiskPlan {
  const files = new Map<string, DiskFile>();
  const own: MachineFile[] = [];
  let waiting: Waiting | undefined;
  for (const volume of instance.spec.volumes ?? []) {
    const source = sourceOf(volume, instance, parts);
    if (source.file) files.set(volume.name, source.file);
    if (source.own) own.push(source.own);
    waiting ??= source.waiting;
  }
  return { files, own, waiting };
}

/** What a machine is to be made of, once all its files are there. */
export function prepareMachine(
  instance: VirtualMachineInstance,
  {
    files,
    links,
    memoryPath,
  }: {
    readonly files: ReadonlyMap<string, DiskFile>;
    readonly links: NicLinks;
    /** It goes on with what was kept there; absent: it boots. */
    readonly memoryPath?: string | undefined;
  },
): Preparation {
  const translation = translateInstance(instance, { files, links });
  if (translation.isPossible) {
    const { spec, warnings } = translation;
    return { state: 'ready', spec: { ...spec, ...(memoryPath !== undefined && { memoryPath }) }, warnings };
  }
  const { namespace = '', name = '' } = instance.metadata;
  const { problems } = translation;
  return {
    state: 'waiting',
    waiting: {
      reason: 'SpecUnsupported',
      text: problems.map(({ field, reason }) => `${field}: ${reason}`).join(', '),
      nature: 'fault',
      wayOut: problems.map(({ wayOut }) => wayOut).join(', '),
      object: { kind: 'VirtualMachineInstance', namespace, name },
    },
  };
}

interface DiskSource {
  readonly file?: DiskFile;
  readonly own?: MachineFile;
  readonly waiting?: Waiting;
}

function sourceOf(volume: VolumeSpec, instance: VirtualMachineInstance, parts: PartFacts): DiskSource {
  const { name, emptyDisk } = volume;
  const claim = claimNameOf(volume);
  if (claim !== undefined)
    return claimSource(parts.claims.get(claim) ?? { state: 'missing' }, claim, { instance, parts });
  const container = parts.containerDisks.get(name);
  if (container) return containerSource(container, parts);
  if (emptyDisk) return { own: { kind: 'blank', name, sizeBytes: wholeOf(emptyDisk.capacity) } };
  const seed = seedOf(volume, instance, parts.seeds);
  if (seed.state === 'waiting') return { waiting: seed.waiting };
  return seed.state === 'ready' ? { own: { kind: 'seed', name, bytes: seed.bytes } } : {};
}

function containerSource(fact: ContainerDiskFact, { isStarted }: PartFacts): DiskSource {
  if (fact.state === 'waiting') return { waiting: fact.waiting };
  return fact.isBusy && !isStarted ? { waiting: busyVolume } : { file: fact.file };
}

const busyVolume: Waiting = {
  reason: 'VolumeBusy',
  text: 'The layers of a volume are being merged',
  nature: 'transient',
};

function claimSource(
  fact: ClaimFact,
  name: string,
  { instance, parts }: { readonly instance: VirtualMachineInstance; readonly parts: PartFacts },
): DiskSource {
  const object = { kind: 'PersistentVolumeClaim', namespace: instance.metadata.namespace ?? '', name };
  switch (fact.state) {
    case 'ready':
      if (!fact.isBusy || parts.isStarted) return { file: fact.file };
      return { waiting: { ...busyVolume, object } };
    case 'missing':
      return {
        waiting: {
          reason: 'FailedPvcNotFound',
          text: 'A volume is on a claim that is not there',
          nature: 'transient',
          object,
        },
      };
    case 'unbound':
      return {
        waiting: { reason: 'VolumeUnbound', text: 'A claim has no volume yet', nature: 'transient', object },
      };
    case 'preparing':
      return {
        waiting: {
          reason: 'VolumePreparing',
          text: `A volume is being filled${fact.percent === undefined ? '' : `, ${fact.percent} %`}`,
          nature: 'transient',
          object,
        },
      };
    case 'failed':
      return {
        waiting: {
          reason: 'VolumeFailed',
          text: fact.message,
          nature: 'fault',
          wayOut: fact.wayOut,
          object,
        },
      };
  }
}
