import { mkdir, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { badRequest } from '@sheaf/base';
import type { PodVolumeSpec } from '@sheaf/ports';
import { KeyedQueue } from '../podman/keyed-queue.ts';
import type { DirectoryLayout } from './directory-layout.ts';
import { DiskExport, type ExportHost } from './disk-export.ts';
import { giveTreeToGroup } from './file-owner.ts';
import { growMounted, prepareFileSystem } from './file-systems.ts';
import { attachLoop, detachLoops, loopsOf } from './loop-devices.ts';
import { mount, mountAt, mountsBelow, mountTable, unmount, unmountAnyway } from './mount-table.ts';
import { refusals } from './refusals.ts';

type DiskVolume = Extract<PodVolumeSpec, { kind: 'volume' }>;

/**
 * Disks as directories: disk, file that shows it, block device, file system, one for all pods of this host that use the volume. Each
 * pod has it mounted a second time, at a place of its own. Each step is looked for before it is taken.
 */
export class DiskMounts {
  readonly #layout: DirectoryLayout;
  readonly #host: ExportHost;
  readonly #queue = new KeyedQueue();

  constructor(layout: DirectoryLayout, host: ExportHost) {
    this.#layout = layout;
    this.#host = host;
  }

  async ensure(place: string, volume: DiskVolume, signal: AbortSignal): Promise<void> {
    await this.#queue.run(volume.volumeId, async () => {
      const shared = await this.#ensureShared(volume, signal);
      if (volume.group !== undefined && !volume.isReadOnly) await giveTreeToGroup(shared, volume.group);
      await bind(shared, place, volume.isReadOnly);
    });
  }

  /** Takes the mount of one pod away. @throws StatusError while a process uses it: then all stays as it is */
  async unbind(place: string, volumeId: string): Promise<void> {
    const isUp = await this.#export(volumeId).isUp();
    await (isUp ? unmount(place) : unmountAnyway(place));
  }

  /** Nothing there: nothing to do. `isUsed` is asked when nobody else changes anything. */
  async release(volumeId: string, isUsed: () => Promise<boolean>): Promise<void> {
    await this.#queue.run(volumeId, async () => {
      if (await isUsed()) return;
      const directory = this.#layout.disk(volumeId);
      const shown = this.#export(volumeId);
      await unmount(mountPlace(directory));
      await detachLoops(shown.path, this.#host.clock);
      await shown.end();
      if ((await mountsBelow(directory)).length === 0) await rm(directory, { recursive: true, force: true });
    });
  }

  async #ensureShared(volume: DiskVolume, signal: AbortSignal): Promise<string> {
    const { volumeId, disk, fileSystem } = volume;
    if (!isAbsolute(disk.path))
      throw badRequest(`${JSON.stringify(disk.path)} is no path of a disk: name an absolute one`);
    const directory = this.#layout.disk(volumeId);
    const place = mountPlace(directory);
    const shown = this.#export(volumeId);
    if (await isWhole(shown, place)) return place;
    if (!(await shown.isUp())) await this.#letGo(shown, place);
    await shown.ensure(disk, signal);
    signal.throwIfAborted();
    const isMounted = (await mountAt(place)) !== undefined;
    if (!isMounted) await this.#confirm(shown, volume);
    const device = await attachLoop(shown.path);
    if (!isMounted) {
      const type = await prepareFileSystem({ volumeId, device }, fileSystem);
      await mkdir(place, { recursive: true });
      await mount('-t', type, device, place);
      await growMounted(type, place);
    }
    return place;
  }

  /** Before anything is written; what is mounted has been confirmed, and its disk has been locked since. */
  async #confirm(shown: DiskExport, { volumeId, disk }: DiskVolume): Promise<void> {
    if (await shown.mayWrite(disk)) return;
    await detachLoops(shown.path, this.#host.clock);
    await shown.end();
    throw refusals.diskOutdated(volumeId);
  }

  /** Nobody is behind the mounts any more: whoever has files open there gets errors until they are made again. */
  async #letGo(shown: DiskExport, place: string): Promise<void> {
    const dead = await mountAt(place);
    const places = dead ? (await mountTable()).filter(({ device }) => device === dead.device) : [];
    for (const { path } of places.toReversed()) await unmountAnyway(path);
    await detachLoops(shown.path, this.#host.clock);
  }

  #export(volumeId: string): DiskExport {
    return new DiskExport(this.#layout.disk(volumeId), volumeId, this.#host);
  }
}

function mountPlace(directory: string): string {
  return join(directory, 'mount');
}

async function isWhole(shown: DiskExport, place: string): Promise<boolean> {
  if (!(await mountAt(place)) || !(await shown.isUp())) return false;
  return (await loopsOf(shown.path)).length > 0;
}

async function bind(source: string, place: string, isReadOnly: boolean): Promise<void> {
  const [wanted, found] = [await mountAt(source), await mountAt(place)];
  if (found && found.device !== wanted?.device) await unmountAnyway(place);
  await mkdir(place, { recursive: true });
  if (!(await mountAt(place))) await mount('--bind', source, place);
  if (isReadOnly && !(await mountAt(place))?.isReadOnly) await mount('-o', 'remount,bind,ro', place);
}
