import { lstat, mkdir, rm } from 'node:fs/promises';
import type { Clock } from '@sheaf/base';
import type { PodVolume, PodVolumeCapabilities, PodVolumeSpec, PodVolumes } from '@sheaf/ports';
import { KeyedQueue } from '../podman/keyed-queue.ts';
import { missing } from '../qemu/capabilities.ts';
import { TaskQueue } from '../qemu/task-queue.ts';
import { hasContent, writeFiles } from './atomic-files.ts';
import type { DirectoryLayout } from './directory-layout.ts';
import { isMissing } from './directory-layout.ts';
import { DiskMounts } from './disk-mounts.ts';
import { ensureHostPath } from './host-paths.ts';
import { MessageFiles } from './message-files.ts';
import { mountAt, mountsBelow, unmountAnyway } from './mount-table.ts';
import { ensureDirectory } from './pod-directories.ts';
import { refusals } from './refusals.ts';
import { SharedRoot } from './shared-root.ts';
import { usedBytesOf } from './used-bytes.ts';
import { probeVolumes } from './volume-probe.ts';
import { type VolumeRecord, VolumeRecords } from './volume-records.ts';

export interface DirectoryPodVolumesOptions {
  readonly layout: DirectoryLayout;
  readonly clock: Clock;
  readonly bootId: string;
  /** Asked of each disk that is open, with its lock, before anything is written. */
  readonly mayWrite: (path: string) => Promise<boolean>;
}

const unknown = missing('nobody has looked yet', 'probe this host');

/** Volumes of pods below one directory. What is there is looked at in each call, never remembered. */
export class DirectoryPodVolumes implements PodVolumes {
  readonly #layout: DirectoryLayout;
  readonly #records: VolumeRecords;
  readonly #messages: MessageFiles;
  readonly #disks: DiskMounts;
  readonly #shared: SharedRoot;
  readonly #pods = new KeyedQueue();
  readonly #removals = new TaskQueue();
  readonly #looks = new TaskQueue();
  #capabilities: PodVolumeCapabilities = { directories: unknown, memory: unknown, disks: unknown };

  constructor({ layout, ...host }: DirectoryPodVolumesOptions) {
    this.#layout = layout;
    this.#records = new VolumeRecords(layout);
    this.#messages = new MessageFiles(layout);
    this.#disks = new DiskMounts(layout, host);
    this.#shared = new SharedRoot(layout.root);
  }

  capabilities(): PodVolumeCapabilities {
    return this.#capabilities;
  }

  async probe(signal: AbortSignal): Promise<PodVolumeCapabilities> {
    signal.throwIfAborted();
    // One look at a time: each mounts something.
    return await this.#looks.run(() => this.#look());
  }

  async #look(): Promise<PodVolumeCapabilities> {
    this.#capabilities = await probeVolumes(this.#layout.root);
    return this.#capabilities;
  }

  async ensure(podUid: string, volume: PodVolumeSpec, signal: AbortSignal): Promise<PodVolume> {
    const place = this.#layout.volume(podUid, volume.name);
    await this.#checkCapable(volume, signal);
    return await this.#pods.run(podUid, async () => {
      signal.throwIfAborted();
      const hostPath = volume.kind === 'host' ? await ensureHostPath(volume) : place;
      await this.#records.write(podUid, recordOf(volume, hostPath));
      await mkdir(this.#layout.volumes(podUid), { recursive: true, mode: 0o700 });
      const make = (): Promise<void> => this.#make(place, volume, signal);
      await (isMounted(volume) ? this.#shared.during(make) : make());
      return { name: volume.name, hostPath };
    });
  }

  async list(podUid: string, signal: AbortSignal): Promise<readonly PodVolume[]> {
    signal.throwIfAborted();
    const found: PodVolume[] = [];
    for (const record of await this.#records.list(podUid))
      if (await isThere(record)) found.push({ name: record.name, hostPath: record.hostPath });
    return found;
  }

  async ensureMessageFile(podUid: string, runId: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    return await this.#pods.run(podUid, () => this.#messages.ensure(podUid, runId));
  }

  async readMessage(podUid: string, runId: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    return await this.#messages.read(podUid, runId);
  }

  async usedBytes(podUid: string, name: string, signal: AbortSignal): Promise<number> {
    const place = this.#layout.volume(podUid, name);
    try {
      return await usedBytesOf(place, signal);
    } catch (error) {
      throw isMissing(error) ? refusals.noVolume(name) : error;
    }
  }

  async remove(podUid: string, signal: AbortSignal): Promise<void> {
    const directory = this.#layout.pod(podUid);
    signal.throwIfAborted();
    await this.#pods.run(podUid, async () => {
      const disks = (await this.#records.list(podUid)).filter(({ volumeId }) => volumeId !== undefined);
      for (const { hostPath, volumeId = '' } of disks) {
        await unmountAllBelow(hostPath);
        await this.#disks.unbind(hostPath, volumeId);
      }
      await unmountAllBelow(directory);
      if (disks.length === 0) return await removeTree(directory);
      // One at a time: of two that use the same disk, the later one is the last.
      return await this.#removals.run(async () => {
        // Before the records go: what they name is found again after a crash.
        await this.#releaseDisks(podUid);
        await removeTree(directory);
      });
    });
    await this.#shared.release();
  }

  async pods(signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    return await this.#layout.podUids();
  }

  async #checkCapable(volume: PodVolumeSpec, signal: AbortSignal): Promise<void> {
    if (!isMounted(volume)) return;
    const isInMemory = volume.kind !== 'volume';
    if (this.#capabilities.memory === unknown) await this.probe(signal);
    const { memory, disks } = this.#capabilities;
    if (isInMemory && !memory.isAvailable) throw refusals.unavailable('directories in memory', memory);
    if (volume.kind === 'volume' && !disks.isAvailable)
      throw refusals.unavailable('disks as file systems', disks);
  }

  async #make(place: string, volume: PodVolumeSpec, signal: AbortSignal): Promise<void> {
    switch (volume.kind) {
      case 'files':
        return await writeFiles(place, volume);
      case 'directory':
        return await ensureDirectory(place, volume);
      case 'volume':
        return await this.#disks.ensure(place, volume, signal);
      case 'host':
    }
  }

  /** All that no other pod names, also what another one could not release. */
  async #releaseDisks(podUid: string): Promise<void> {
    const isUsed = async (id: string): Promise<boolean> => (await this.#records.usedDisks(podUid)).has(id);
    const used = await this.#records.usedDisks(podUid);
    for (const id of await this.#layout.diskIds())
      if (!used.has(id)) await this.#disks.release(id, () => isUsed(id));
  }
}

/** It is a mount of its own. */
function isMounted(volume: PodVolumeSpec): boolean {
  return volume.kind === 'volume' || (volume.kind === 'directory' && volume.medium === 'memory');
}

async function unmountAllBelow(directory: string): Promise<void> {
  for (const { path } of (await mountsBelow(directory)).toReversed()) await unmountAnyway(path);
}

/** Never what is mounted in it. */
async function removeTree(directory: string): Promise<void> {
  const left = await mountsBelow(directory);
  if (left.length > 0) throw refusals.diskBusy(`${left.map(({ path }) => path).join(', ')} is mounted`);
  await rm(directory, { recursive: true, force: true });
}

function recordOf(volume: PodVolumeSpec, hostPath: string): VolumeRecord {
  return {
    name: volume.name,
    kind: volume.kind,
    hostPath,
    ...(volume.kind === 'directory' && { medium: volume.medium }),
    ...(volume.kind === 'volume' && { volumeId: volume.volumeId }),
  };
}

/** A record says what was to be made: whether it was, and has outlived the last start of the host, is to be seen. */
async function isThere({ kind, medium, hostPath }: VolumeRecord): Promise<boolean> {
  if (kind === 'files') return await hasContent(hostPath);
  if (kind === 'volume' || medium === 'memory') return (await mountAt(hostPath)) !== undefined;
  return await lstat(hostPath).then(
    () => true,
    () => false,
  );
}
