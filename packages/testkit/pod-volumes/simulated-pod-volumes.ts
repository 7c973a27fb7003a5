import type { PodVolume, PodVolumeCapabilities, PodVolumeSpec, PodVolumes, VolumeFile } from '@sheaf/ports';
import { refusals } from './simulated-refusals.ts';
import type { SimulatedVolumeHost } from './simulated-volume-host.ts';

type SpecOf<Kind extends PodVolumeSpec['kind']> = Extract<PodVolumeSpec, { kind: Kind }>;

const idPattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,199}$/;
const namePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const longestMessage = 4096;
const isSimulated = { isAvailable: true, reason: 'simulated' };
const capabilities: PodVolumeCapabilities = {
  directories: isSimulated,
  memory: isSimulated,
  disks: isSimulated,
};

const hostTypes: Readonly<Record<Exclude<SpecOf<'host'>['type'], ''>, string>> = {
  Directory: 'a directory',
  DirectoryOrCreate: 'a directory',
  File: 'a file',
  FileOrCreate: 'a file',
  Socket: 'a socket file',
  CharDevice: 'a character device',
  BlockDevice: 'a block device',
};

/** Volumes of pods in memory. It passes the contract suite of the port. */
export class SimulatedPodVolumes implements PodVolumes {
  readonly #host: SimulatedVolumeHost;

  constructor(host: SimulatedVolumeHost) {
    this.#host = host;
  }

  capabilities(): PodVolumeCapabilities {
    return capabilities;
  }

  probe(): Promise<PodVolumeCapabilities> {
    return Promise.resolve(capabilities);
  }

  async ensure(podUid: string, volume: PodVolumeSpec, signal: AbortSignal): Promise<PodVolume> {
    const { name, kind } = volume;
    const place = this.#host.place(checked(podUid, idPattern), checked(name, namePattern));
    await step(signal);
    const hostPath = kind === 'host' ? this.#hostPath(volume) : place;
    const needsMount = kind === 'volume' || (kind === 'directory' && volume.medium === 'memory');
    const volumeId = kind === 'volume' ? { volumeId: volume.volumeId } : {};
    this.#host.pod(podUid).volumes.set(name, { name, hostPath, needsMount, ...volumeId });
    if (kind === 'files') this.#putFiles(place, volume);
    if (kind === 'directory') this.#putDirectory(place, volume);
    if (kind === 'volume') this.#mountDisk(place, volume);
    return { name, hostPath };
  }

  async list(podUid: string, signal: AbortSignal): Promise<readonly PodVolume[]> {
    await step(signal);
    const all = [...(this.#host.pods.get(checked(podUid, idPattern))?.volumes.values() ?? [])];
    return all
      .filter(({ needsMount, hostPath }) => !needsMount || this.#host.mounts.has(hostPath))
      .map(({ name, hostPath }) => ({ name, hostPath }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async ensureMessageFile(podUid: string, runId: string, signal: AbortSignal): Promise<string> {
    const path = `${this.#host.place(checked(podUid, idPattern), 'messages')}/${checked(runId, idPattern)}`;
    await step(signal);
    this.#host.pod(podUid).messages.set(runId, path);
    this.#host.put(path, { kind: 'file', bytes: new Uint8Array(), mode: 0o666, group: 0 });
    return path;
  }

  async readMessage(podUid: string, runId: string, signal: AbortSignal): Promise<string> {
    await step(signal);
    const path = this.#host.pods.get(podUid)?.messages.get(runId);
    const bytes = (path === undefined ? undefined : this.#host.find(path)?.bytes) ?? new Uint8Array();
    return Buffer.from(bytes)
      .subarray(-longestMessage)
      .toString()
      .replace(/^\uFFFD+/, '');
  }

  async usedBytes(podUid: string, name: string, signal: AbortSignal): Promise<number> {
    await step(signal);
    const place = this.#host.place(checked(podUid, idPattern), checked(name, namePattern));
    if (!this.#host.find(place)) throw refusals.noVolume(name);
    return this.#host.usedBytes(place);
  }

  async remove(podUid: string, signal: AbortSignal): Promise<void> {
    checked(podUid, idPattern);
    await step(signal);
    const place = this.#host.place(podUid, '');
    if (this.#host.isBusy) throw refusals.busy(place);
    for (const [path, { source }] of this.#host.mounts)
      if (path.startsWith(place)) {
        this.#host.mounts.delete(path);
        if (source.startsWith('memory:')) this.#host.removeTree(source);
      }
    this.#host.removeTree(place.slice(0, -1));
    this.#host.pods.delete(podUid);
  }

  async pods(signal: AbortSignal): Promise<readonly string[]> {
    await step(signal);
    return [...this.#host.pods.keys()].toSorted();
  }

  #putFiles(place: string, { files, group = 0 }: SpecOf<'files'> & { readonly group?: number }): void {
    for (const { path } of files) checkPath(path);
    const modeOf = ({ mode }: VolumeFile): number => (group === 0 ? mode : mode | 0o440);
    const isSame = files.every((file) => {
      const found = this.#host.find(`${place}/${file.path}`);
      return found?.mode === modeOf(file) && Buffer.from(found.bytes).equals(file.bytes);
    });
    const count = [...this.#host.files.keys()].filter((path) => path.startsWith(`${place}/`)).length;
    if (isSame && count === files.length && this.#host.find(place)) return;
    this.#host.removeTree(place);
    this.#host.putDirectory(place, 0o755, group);
    for (const file of files)
      this.#host.put(`${place}/${file.path}`, {
        kind: 'file',
        bytes: file.bytes,
        mode: modeOf(file),
        group,
      });
    this.#host.versions.set(place, (this.#host.versions.get(place) ?? 0) + 1);
  }

  #putDirectory(place: string, volume: SpecOf<'directory'> & { readonly group?: number }): void {
    const { medium, sizeBytes = Number.MAX_SAFE_INTEGER, group } = volume;
    if (medium === 'memory' && !this.#host.mounts.has(place))
      this.#host.mounts.set(place, {
        source: `memory:${place}`,
        isReadOnly: false,
        capacityBytes: sizeBytes,
      });
    if (!this.#host.find(place)) this.#host.putDirectory(place, group === undefined ? 0o777 : 0o2777, group);
  }

  #mountDisk(place: string, volume: SpecOf<'volume'> & { readonly group?: number }): void {
    const { disk, volumeId, isReadOnly, group } = volume;
    if (this.#host.openDisks.has(disk.path)) throw refusals.diskInUse(volumeId);
    if (this.#host.mounts.has(place)) return;
    const isShown = [...this.#host.mounts.values()].some(({ source }) => source === `disk:${disk.path}`);
    if (!isShown && this.#host.outdatedDisks.has(disk.path)) throw refusals.diskOutdated(volumeId);
    const capacityBytes = this.#host.disks.get(disk.path) ?? 0;
    this.#host.mounts.set(place, { source: `disk:${disk.path}`, isReadOnly, capacityBytes });
    if (!this.#host.find(place)) this.#host.putDirectory(place, 0o755);
    if (group !== undefined) this.#host.putDirectory(place, 0o2775, group);
  }

  #hostPath({ path, type }: SpecOf<'host'>): string {
    if (!path.startsWith('/') || path.split('/').includes('..')) throw refusals.badHostPath(path);
    const found = this.#host.find(path)?.kind;
    if (found === undefined && (type === '' || type.endsWith('OrCreate'))) this.#make(path, type);
    else if (type !== '') {
      const words = hostTypes[type];
      const isRight = found !== undefined && words === `a ${found}`;
      if (!isRight) throw refusals.wrongHostPath(path, words, found !== undefined);
    }
    return path;
  }

  #make(path: string, type: SpecOf<'host'>['type']): void {
    if (type === 'FileOrCreate') return this.#host.write(path, '');
    const parts = path.split('/');
    for (let length = 2; length <= parts.length; length++)
      this.#host.putDirectory(parts.slice(0, length).join('/'), 0o755);
  }
}

async function step(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await Promise.resolve();
}

function checked(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name;
  throw refusals.badName(name);
}

function checkPath(path: string): void {
  const isGood =
    !path.startsWith('..') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isGood) throw refusals.badPath(path);
}
