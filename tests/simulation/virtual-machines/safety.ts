import type { PersistentVolume } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import type { MachineDisk } from '@sheaf/ports';
import { isDeleting, type Objects } from '../objects.ts';
import type { World } from './world.ts';

interface OpenDisk {
  readonly id: string;
  readonly disk: MachineDisk;
  readonly path: string;
}

/** What must never be, looked at after each step. */
export class Safety {
  readonly violations: string[] = [];
  /** Volumes whose class keeps them: they may stay when everything else has gone. */
  readonly mayStay = new Set<string>();
  /** Those of them that a claim has had: they must stay. */
  readonly #kept = new Set<string>();
  readonly #objects: Objects;
  readonly #world: World;
  #volumes: ReadonlySet<string> = new Set();

  constructor(objects: Objects, world: World) {
    this.#objects = objects;
    this.#world = world;
  }

  /** Goes on from what another one has seen. */
  takeOver(other: Safety): void {
    for (const id of other.mayStay) this.mayStay.add(id);
    for (const id of other.#kept) this.#kept.add(id);
    this.#volumes = other.#volumes;
  }

  look(): void {
    this.#lookAtOwners();
    this.#lookAtDisks();
    this.#lookAtVolumes();
  }

  /** A process has its instance, and no two processes have one machine. */
  #lookAtOwners(): void {
    const titles = new Map<string, string>();
    for (const { spec, process } of this.#world.host.machines.values()) {
      if (!process) continue;
      if (!this.#objects.get(resources.virtualMachineInstances, spec.id))
        this.#find(`the process of ${spec.title} (${spec.id.slice(0, 8)}) goes on without its instance`);
      const other = titles.get(spec.title);
      if (other !== undefined) this.#find(`two processes of ${spec.title}: ${other} and ${spec.id}`);
      titles.set(spec.title, spec.id);
    }
  }

  /** A file that is open is there, and one that is written to is open in one machine. */
  #lookAtDisks(): void {
    const open = this.#openDisks();
    for (const { id, path } of open)
      if (path.includes('/layers/') && !this.#world.hasLayer(path))
        this.#find(`${path} was removed while machine ${id} has it open`);
    const writers = new Map<string, string>();
    for (const { id, path } of open.filter(({ disk }) => isExclusive(disk))) {
      const other = writers.get(path);
      if (other !== undefined && other !== id) this.#find(`${path} is written by ${other} and ${id}`);
      writers.set(path, id);
    }
    this.#lookAtFrozen(open);
  }

  /** What is frozen is written to by no guest: a volume goes on above it, and a snapshot keeps it. */
  #lookAtFrozen(open: readonly OpenDisk[]): void {
    const { medium, host } = this.#world;
    const written = new Set([...medium.volumes.values()].map(({ top }) => top.path));
    for (const { overlay } of medium.snapshots.values()) if (overlay) written.add(overlay.path);
    for (const { id, disk, path } of open) {
      const isWriting = host.machines.get(id)?.process?.guest.isRunning === true && isExclusive(disk);
      if (isWriting && this.#world.hasLayer(path) && !written.has(path))
        this.#find(`${path} is frozen, and machine ${id} writes to it`);
    }
  }

  #openDisks(): readonly OpenDisk[] {
    return [...this.#world.host.machines.values()].flatMap(({ spec, process }) =>
      [...(process?.disks.values() ?? [])].flatMap((disk) =>
        disk.file ? [{ id: spec.id, disk, path: disk.file.path }] : [],
      ),
    );
  }

  /** Data go only after their claim, and only if they are not to be kept. */
  #lookAtVolumes(): void {
    const now = this.#world.medium.volumes;
    for (const volume of this.#objects.all(resources.persistentVolumes)) this.#noteKept(volume);
    for (const id of this.#volumes) if (!now.has(id)) this.#lookAtLoss(id);
    if (now.size !== this.#volumes.size || [...now.keys()].some((id) => !this.#volumes.has(id)))
      this.#volumes = new Set(now.keys());
  }

  #noteKept({ spec, metadata }: PersistentVolume): void {
    if (spec.persistentVolumeReclaimPolicy !== 'Retain') return;
    const { volumeHandle = '' } = spec.csi ?? {};
    this.mayStay.add(volumeHandle);
    const claim = this.#objects.get(resources.persistentVolumeClaims, spec.claimRef?.uid ?? '');
    if (claim?.spec.volumeName === metadata.name) this.#kept.add(volumeHandle);
  }

  #lookAtLoss(id: string): void {
    const claim = this.#objects.get(resources.persistentVolumeClaims, id);
    if (this.#kept.has(id)) this.#find(`volume ${id} was removed, and was to be kept`);
    // A claim that is let go may have lost its volume a moment before.
    else if (claim && !isDeleting(claim)) this.#find(`volume ${id} was removed while its claim is there`);
    else if (claim?.spec.volumeName) this.#find(`volume ${id} was removed before its claim was gone`);
  }

  #find(text: string): void {
    if (!this.violations.includes(text)) this.violations.push(text);
  }
}

function isExclusive({ isShareable, isReadOnly }: MachineDisk): boolean {
  return isShareable !== true && isReadOnly !== true;
}
