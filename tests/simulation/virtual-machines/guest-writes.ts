import type { SimulatedHost } from '@sheaf/testkit/hypervisor/index';
import type { SimulatedMedium } from '@sheaf/testkit/volumes/index';
import { readCell, type SimulatedLayer } from '@sheaf/testkit/volumes/simulated-medium';

const cell = 0;

/** What guests write to their disks, and whether it is still there. */
export class GuestWrites {
  readonly #host: SimulatedHost;
  readonly #medium: SimulatedMedium;
  /** By the id of a volume: the value that was written last. */
  readonly #written = new Map<string, number>();
  #writes = 0;

  constructor(host: SimulatedHost, medium: SimulatedMedium) {
    this.#host = host;
    this.#medium = medium;
  }

  /** What has been written in another world, of which this one is a copy. */
  takeOver(other: GuestWrites): void {
    for (const [id, value] of other.#written) this.#written.set(id, value);
    this.#writes = other.#writes;
  }

  /** All guests that run write to all their disks. */
  write(): void {
    for (const path of this.#openPaths(({ isRunning }) => isRunning)) {
      const volumeId = this.#volumeOf(path);
      const layer = this.#layerAt(path);
      if (volumeId === undefined || !layer) continue;
      layer.cells.set(cell, ++this.#writes);
      this.#written.set(volumeId, this.#writes);
    }
  }

  /** Volumes in which something else is to be read than what was written last. */
  findLosses(): readonly string[] {
    return [...this.#written].flatMap(([id, value]) => {
      const layer = this.#currentOf(id);
      const found = layer && readCell(layer, cell);
      return found === undefined || found === value
        ? []
        : [`volume ${id} has lost write ${value}: it has ${found}`];
    });
  }

  /** Where its machine writes: to the file that is prepared for the next snapshot once it has switched to that. */
  #currentOf(volumeId: string): SimulatedLayer | undefined {
    const prepared = [...this.#medium.snapshots.values()].find(
      (each) => each.volumeId === volumeId && each.overlay,
    );
    const overlay = prepared?.overlay;
    const isSwitched = overlay && (overlay.cells.size > 0 || this.#openPaths(() => true).has(overlay.path));
    return isSwitched ? overlay : this.#medium.volumes.get(volumeId)?.top;
  }

  #openPaths(isMeant: (guest: { readonly isRunning: boolean }) => boolean): ReadonlySet<string> {
    const processes = [...this.#host.machines.values()].flatMap(({ process }) => process ?? []);
    return new Set(
      processes
        .filter(({ guest }) => isMeant(guest))
        .flatMap(({ disks }) => [...disks.values()].flatMap(({ file }) => file?.path ?? [])),
    );
  }

  #volumeOf(path: string): string | undefined {
    const volume = [...this.#medium.volumes.values()].find(({ top }) => top.path === path);
    const prepared = [...this.#medium.snapshots.values()].find(({ overlay }) => overlay?.path === path);
    return volume?.id ?? prepared?.volumeId;
  }

  #layerAt(path: string): SimulatedLayer | undefined {
    return [...this.#medium.layers()].find((layer) => layer.path === path);
  }
}
