import type { DiskFile, SnapshotObservation } from '@sheaf/ports';
import type { SnapshotRecord, VolumeRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { checkChain, checkUnused, freeze } from './layer-freeze.ts';
import { conflict, notFound } from './refusals.ts';
import type { SpaceLedger } from './space-ledger.ts';

export interface SnapshotOrder {
  readonly id: string;
  readonly volumeId: string;
  readonly isAttached: boolean;
  readonly isSwitched?: boolean;
}

interface Overlay {
  readonly overlay?: DiskFile;
}

const metadataBytes = 1024 * 1024;

/** Snapshots of volumes: layers that are written no more. All calls are within `serial`. */
export class VolumeSnapshots {
  readonly #disk: DiskState;
  readonly #ledger: SpaceLedger;

  constructor(disk: DiskState, ledger: SpaceLedger) {
    this.#disk = disk;
    this.#ledger = ledger;
  }

  list(): SnapshotObservation[] {
    return this.#disk.snapshots
      .all()
      .filter(({ state }) => state === 'taken')
      .map(({ id, volumeId, bytes, takenAt }) => ({ id, volumeId, bytes, takenAt }));
  }

  idsOf(volumeId: string): string[] {
    return this.list()
      .filter((snapshot) => snapshot.volumeId === volumeId)
      .map((snapshot) => snapshot.id)
      .sort();
  }

  async take(order: SnapshotOrder, signal: AbortSignal): Promise<Overlay> {
    await this.settle(order.volumeId, order.isSwitched ? order.id : undefined);
    const existing = this.#disk.snapshots.get(order.id);
    if (existing?.state === 'taken') return {};
    if (existing?.state === 'removing') throw conflict(`snapshot ${order.id} is being removed`);
    if (order.isSwitched) throw notFound(`snapshot ${order.id} has not been prepared; ask for it first`);
    const volume = this.#volume(order.volumeId);
    if (order.isAttached) return this.#prepare(order, { volume, existing }, signal);
    if (existing) await this.#drop(existing, signal);
    await this.#takeNow(order, volume, signal);
    return {};
  }

  /**
   * A volume writes there now, or may: its machine may have switched to what was prepared. Who is told that he may write to a volume
   * makes what was prepared above it void, if nobody has that open: it would keep a later moment than whoever prepared it believes.
   */
  async confirmWriter(layer: string, signal: AbortSignal): Promise<boolean> {
    const { volumes, snapshots } = this.#disk;
    if (snapshots.all().some(({ state, overlay }) => state === 'prepared' && overlay === layer)) return true;
    const above = volumes.all().find(({ state, top }) => state === 'made' && top === layer);
    if (!above) return false;
    await this.settle(above.id);
    if (volumes.get(above.id)?.top !== layer) return false;
    await this.dropPrepared(above.id, signal);
    return true;
  }

  /** Finds out whether the machine has gone on in a prepared layer; `switchedId`: it has. */
  async settle(volumeId: string, switchedId?: string): Promise<void> {
    const { snapshots, layers, volumes } = this.#disk;
    const prepared = this.#preparedOf(volumeId);
    const volume = volumes.get(volumeId);
    if (!prepared?.overlay || volume?.state !== 'made' || !layers.graph.has(prepared.overlay)) return;
    if (prepared.id !== switchedId && (await layers.isUntouched(prepared.overlay))) return;
    if (prepared.id === switchedId) await this.#checkLetGo(volume, prepared);
    await volumes.put({ ...volume, top: prepared.overlay });
    const { overlay: _, ...snapshot } = prepared;
    await snapshots.put({ ...snapshot, takenAt: this.#disk.clock.now(), state: 'taken' });
  }

  /** The file that a machine is to go on in, or goes on in untold. */
  async findPrepared(id: string): Promise<DiskFile | undefined> {
    const { snapshots, layers } = this.#disk;
    const found = snapshots.get(id);
    if (found?.state === 'prepared') await this.settle(found.volumeId);
    const { state, overlay } = snapshots.get(id) ?? {};
    const isThere = state === 'prepared' && overlay !== undefined && layers.graph.has(overlay);
    return isThere ? fileOf(layers.path(overlay)) : undefined;
  }

  /** True while a machine may be about to switch. */
  isPrepared(volumeId: string): boolean {
    return this.#preparedOf(volumeId) !== undefined;
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    const found = this.#disk.snapshots.get(id);
    if (!found) return;
    await this.settle(found.volumeId);
    const snapshot = this.#disk.snapshots.get(id);
    if (snapshot?.state === 'prepared') await this.#drop(snapshot, signal);
    else if (snapshot && this.#isCopied(snapshot))
      throw conflict(`snapshot ${id} is being copied; wait until that is done, or remove the copy`);
    else if (snapshot) await this.#disk.snapshots.markRemoving(snapshot);
    await this.#disk.sweep();
  }

  /** Gives up what is prepared for a volume that is being removed. */
  async dropPrepared(volumeId: string, signal: AbortSignal): Promise<void> {
    const prepared = this.#preparedOf(volumeId);
    if (prepared) await this.#drop(prepared, signal);
  }

  /** Who switched only reads what lies below: its lock shows that another has opened the volume since, and goes on in it. */
  async #checkLetGo({ title, top }: VolumeRecord, { id }: SnapshotRecord): Promise<void> {
    if (await this.#disk.qemuImg.isInUse(this.#disk.layers.path(top), new AbortController().signal))
      throw conflict(
        `volume ${title} is still written to below snapshot ${id}; let the machine that has it open switch, or stop it`,
      );
  }

  #isCopied({ id, layer }: SnapshotRecord): boolean {
    return this.#disk.isCopied([layer]) || this.#disk.isAwaited('snapshot', id);
  }

  #preparedOf(volumeId: string): SnapshotRecord | undefined {
    return this.#disk.snapshots
      .all()
      .find((snapshot) => snapshot.volumeId === volumeId && snapshot.state === 'prepared');
  }

  #volume(id: string): VolumeRecord {
    const volume = this.#disk.volumes.get(id);
    if (volume?.state === 'made') return volume;
    throw notFound(`volume ${id} is not there; make it first`);
  }

  /** A machine may have switched without having written: then it has the overlay open. Having it open, it may yet not have switched. */
  async #drop(snapshot: SnapshotRecord, signal: AbortSignal): Promise<void> {
    const { layers, qemuImg, snapshots } = this.#disk;
    const { overlay } = snapshot;
    if (overlay && layers.graph.has(overlay) && (await qemuImg.isInUse(layers.path(overlay), signal)))
      throw conflict(preparedIsOpen(snapshot.id));
    await snapshots.markRemoving(snapshot);
    await this.#disk.sweep();
  }

  async #prepare(
    order: SnapshotOrder,
    { volume, existing }: { volume: VolumeRecord; existing: SnapshotRecord | undefined },
    signal: AbortSignal,
  ): Promise<Overlay> {
    const { layers, snapshots } = this.#disk;
    const other = this.#preparedOf(volume.id);
    if (other && other.id !== order.id)
      throw conflict(
        `snapshot ${other.id} of volume ${volume.title} is being taken; finish or remove it first`,
      );
    const overlay = `volume-${volume.id}-${order.id}.qcow2`;
    if (existing?.overlay === overlay && layers.graph.has(overlay))
      return { overlay: fileOf(layers.path(overlay)) };
    checkChain(this.#disk, volume);
    const room = await this.#holdRoom(volume);
    try {
      const { virtualBytes } = await layers.get(volume.top);
      const backing = { name: volume.top, format: 'qcow2' } as const;
      await this.#disk.withWorkFile(async (fresh) => {
        await this.#disk.qemuImg.create(fresh, { bytes: virtualBytes, backing }, signal);
        await snapshots.put({ ...this.#record(order, volume.top, virtualBytes), overlay, state: 'prepared' });
        await this.#disk.placeLayer(fresh, overlay);
      });
    } finally {
      room.dispose();
    }
    return { overlay: fileOf(layers.path(overlay)) };
  }

  async #takeNow(order: SnapshotOrder, volume: VolumeRecord, signal: AbortSignal): Promise<void> {
    const { layers, snapshots } = this.#disk;
    await checkUnused(this.#disk, volume, signal);
    const frozen = `snapshot-${order.id}.qcow2`;
    const room = await this.#holdRoom(volume);
    try {
      await freeze(this.#disk, { volume, frozen }, signal);
      const { virtualBytes } = await layers.get(frozen);
      await snapshots.put({ ...this.#record(order, frozen, virtualBytes), state: 'taken' });
    } finally {
      room.dispose();
    }
  }

  /** What the volume has now stays, and all of it may be written once more. */
  async #holdRoom(volume: VolumeRecord) {
    const frozenBytes = await this.#disk.layers.allocated([volume.top]);
    return this.#ledger.hold(`a snapshot of volume ${volume.title}`, {
      promisedBytes: frozenBytes,
      takenBytes: metadataBytes,
    });
  }

  #record(order: SnapshotOrder, layer: string, bytes: number) {
    return { id: order.id, volumeId: order.volumeId, bytes, takenAt: this.#disk.clock.now(), layer };
  }
}

/** Also what people see of it, where the machine does not say which file it writes to. */
function preparedIsOpen(id: string): string {
  return `the file that was prepared for snapshot ${id} is open in a machine that may write to it; wait until the machine says whether it does, or stop it`;
}

function fileOf(path: string): DiskFile {
  return { path, format: 'qcow2' };
}
