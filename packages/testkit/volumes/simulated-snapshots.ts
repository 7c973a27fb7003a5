import type { Clock } from '@sheaf/base';
import type { DiskFile, SnapshotObservation, Volumes } from '@sheaf/ports';
import {
  allocatedBytes,
  type SimulatedLayer,
  type SimulatedMedium,
  type SimulatedSnapshot,
  type SimulatedVolume,
} from './simulated-medium.ts';
import { conflict, notFound } from './simulated-refusals.ts';

type SnapshotOrder = Parameters<Volumes['snapshot']>[0];

/** Snapshots of simulated volumes. Every call is one step. */
export class SimulatedSnapshots {
  readonly #medium: SimulatedMedium;
  readonly #clock: Clock;
  readonly #checkRoom: (what: string, bytes: number) => void;

  constructor(medium: SimulatedMedium, clock: Clock, checkRoom: (what: string, bytes: number) => void) {
    this.#medium = medium;
    this.#clock = clock;
    this.#checkRoom = checkRoom;
  }

  list(): SnapshotObservation[] {
    for (const { volumeId } of this.#medium.snapshots.values())
      if (this.#medium.volumes.has(volumeId)) this.settled(volumeId);
    return [...this.#medium.snapshots.values()]
      .filter(({ overlay }) => overlay === undefined)
      .map(({ id, volumeId, bytes, takenAt }) => ({ id, volumeId, bytes, takenAt }));
  }

  idsOf(volumeId: string): string[] {
    return [...this.#medium.snapshots.values()]
      .flatMap((item) => (item.volumeId === volumeId && !item.overlay ? [item.id] : []))
      .sort();
  }

  findPrepared(id: string): DiskFile | undefined {
    const { volumeId } = this.#medium.snapshots.get(id) ?? {};
    if (volumeId !== undefined && this.#medium.volumes.has(volumeId)) this.settled(volumeId);
    const overlay = this.#medium.snapshots.get(id)?.overlay;
    return overlay && { path: overlay.path, format: 'qcow2' };
  }

  isPrepared(volumeId: string): boolean {
    return this.#preparedOf(volumeId) !== undefined;
  }

  /** A volume writes there now, or may: its machine may have switched to what was prepared, which is void if it has not. */
  confirmWriter(path: string): boolean {
    const { volumes, snapshots } = this.#medium;
    if (!this.#medium.isLayer(path)) return true;
    if ([...snapshots.values()].some(({ overlay }) => overlay?.path === path)) return true;
    const above = [...volumes.values()].find(({ top }) => top.path === path);
    if (!above || this.settled(above.id).top.path !== path) return false;
    this.dropPrepared(above.id);
    return true;
  }

  /** The volume, with no doubt about where its machine writes. */
  settled(volumeId: string, switchedId?: string): SimulatedVolume {
    const volume = this.#medium.volumes.get(volumeId);
    if (!volume) throw notFound(`volume ${volumeId} is not there; make it first`);
    const prepared = this.#preparedOf(volumeId);
    if (!prepared?.overlay) return volume;
    if (prepared.id !== switchedId && prepared.overlay.cells.size === 0) return volume;
    if (prepared.id === switchedId && volume.top.openers > 0 && prepared.overlay.openers === 0)
      throw conflict(
        `volume ${volume.title} is still written to below snapshot ${prepared.id}; let the machine that has it open switch, or stop it`,
      );
    volume.top = prepared.overlay;
    prepared.overlay = undefined;
    prepared.takenAt = this.#clock.now();
    return volume;
  }

  checkUnused(volume: SimulatedVolume): void {
    if (volume.top.openers > 0)
      throw conflict(
        `volume ${volume.title} is open in a machine; stop the machine, or take a snapshot of it`,
      );
  }

  take(order: SnapshotOrder): { readonly overlay?: DiskFile } {
    const volume = this.settled(order.volumeId, order.isSwitched ? order.id : undefined);
    const existing = this.#medium.snapshots.get(order.id);
    if (existing && !existing.overlay) return {};
    if (order.isSwitched) throw notFound(`snapshot ${order.id} has not been prepared; ask for it first`);
    if (order.isAttached) return { overlay: { path: this.#prepare(order, volume).path, format: 'qcow2' } };
    // As the real driver does: a machine that has switched without a word has what was prepared open.
    if (existing) this.#checkDroppable(existing);
    this.checkUnused(volume);
    this.#checkRoom(`a snapshot of volume ${volume.title}`, allocatedBytes(volume.top));
    this.#record(order, this.freeze(volume.id, order.id));
    return {};
  }

  /** Keeps the state of now, and lets the volume go on above it, at the path it had. */
  freeze(volumeId: string, name: string): SimulatedLayer {
    const { top } = this.settled(volumeId);
    const frozen = this.#medium.layer(
      `frozen-${name}`,
      top.bytes,
      top.backing ? { backing: top.backing } : {},
    );
    frozen.cells = top.cells;
    top.cells = new Map();
    top.backing = frozen;
    return frozen;
  }

  /** The volume that it was of. */
  remove(id: string): string | undefined {
    const snapshot = this.#medium.snapshots.get(id);
    if (!snapshot) return undefined;
    if (this.#medium.volumes.has(snapshot.volumeId)) this.settled(snapshot.volumeId);
    this.#checkDroppable(snapshot);
    this.#medium.snapshots.delete(id);
    return snapshot.volumeId;
  }

  dropPrepared(volumeId: string): void {
    const prepared = this.#preparedOf(volumeId);
    if (!prepared) return;
    this.#checkDroppable(prepared);
    this.#medium.snapshots.delete(prepared.id);
  }

  #checkDroppable({ id, overlay }: SimulatedSnapshot): void {
    if (overlay && overlay.openers > 0)
      throw conflict(
        `the file that was prepared for snapshot ${id} is open in a machine that may write to it; stop the machine`,
      );
  }

  #preparedOf(volumeId: string): SimulatedSnapshot | undefined {
    return [...this.#medium.snapshots.values()].find((item) => item.volumeId === volumeId && item.overlay);
  }

  #prepare(order: SnapshotOrder, volume: SimulatedVolume): SimulatedLayer {
    const prepared = this.#preparedOf(volume.id);
    if (prepared && prepared.id !== order.id)
      throw conflict(
        `snapshot ${prepared.id} of volume ${volume.title} is being taken; finish or remove it first`,
      );
    if (prepared?.overlay) return prepared.overlay;
    this.#checkRoom(`a snapshot of volume ${volume.title}`, allocatedBytes(volume.top));
    const { top } = volume;
    const overlay = this.#medium.layer(`volume-${volume.id}-${order.id}`, top.bytes, { backing: top });
    this.#record(order, top, overlay);
    return overlay;
  }

  #record({ id, volumeId }: SnapshotOrder, layer: SimulatedLayer, overlay?: SimulatedLayer): void {
    const takenAt = this.#clock.now();
    this.#medium.snapshots.set(id, { id, volumeId, bytes: layer.bytes, takenAt, layer, overlay });
  }
}
