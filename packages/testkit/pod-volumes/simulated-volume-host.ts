import { badRequest } from '@sheaf/base';

export interface SimulatedFile {
  readonly kind: 'file' | 'directory';
  readonly bytes: Uint8Array;
  readonly mode: number;
  readonly group: number;
}

export interface SimulatedMount {
  /** Where what is seen here really is. */
  readonly source: string;
  readonly isReadOnly: boolean;
  readonly capacityBytes: number;
}

/** What is kept of a volume of a pod. */
export interface SimulatedVolume {
  readonly name: string;
  readonly hostPath: string;
  readonly needsMount: boolean;
  /** The disk behind it. */
  readonly volumeId?: string;
}

export interface SimulatedPodTree {
  readonly volumes: Map<string, SimulatedVolume>;
  readonly messages: Map<string, string>;
}

const root = '/simulated/pod-volumes';

/** The host under simulated volumes of pods: files, mounts and disks outlive the driver. */
export class SimulatedVolumeHost {
  readonly group = 4242;
  /** By path; of disks and memory, below the name of what they are. */
  readonly files = new Map<string, SimulatedFile>();
  readonly mounts = new Map<string, SimulatedMount>();
  readonly pods = new Map<string, SimulatedPodTree>();
  /** Bytes of disks, by path. */
  readonly disks = new Map<string, number>();
  /** Paths of disks that someone else has open. */
  readonly openDisks = new Set<string>();
  /** Paths of disks that nobody may begin to write to: their volumes have gone on in others. */
  readonly outdatedDisks = new Set<string>();
  /** Somebody is in what pods have mounted: nothing can be taken away. */
  isBusy = false;
  /** How often files of a volume were written, by its path. */
  readonly versions = new Map<string, number>();

  /** Mounts are gone, and with them what was in memory. */
  restart(): void {
    for (const { source } of this.mounts.values()) if (source.startsWith('memory:')) this.removeTree(source);
    this.mounts.clear();
  }

  place(podUid: string, name: string): string {
    return `${root}/${podUid}/${name}`;
  }

  pod(podUid: string): SimulatedPodTree {
    const known = this.pods.get(podUid);
    if (known) return known;
    const made = { volumes: new Map<string, SimulatedVolume>(), messages: new Map<string, string>() };
    this.pods.set(podUid, made);
    return made;
  }

  find(path: string): SimulatedFile | undefined {
    return this.files.get(this.#real(path));
  }

  /** As a container does. */
  write(path: string, text: string): void {
    if (this.#mountOf(path)?.mount.isReadOnly)
      throw badRequest(`read-only file system: ${path}; write through a pod that may`);
    const before = this.find(path);
    const { mode = 0o644, group = 0 } = before ?? {};
    this.put(path, { kind: 'file', bytes: Buffer.from(text), mode, group });
  }

  put(path: string, file: SimulatedFile): void {
    this.files.set(this.#real(path), file);
  }

  putDirectory(path: string, mode: number, group = 0): void {
    this.put(path, { kind: 'directory', bytes: new Uint8Array(), mode, group });
  }

  /** Names of what is in a directory, sorted. */
  entries(path: string): readonly string[] {
    const prefix = `${this.#real(path)}/`;
    const names = [...this.files.keys()].filter((key) => key.startsWith(prefix));
    return [...new Set(names.map((key) => key.slice(prefix.length).split('/')[0] ?? ''))].toSorted();
  }

  usedBytes(path: string): number {
    const prefix = `${this.#real(path)}/`;
    let sum = 0;
    for (const [key, { bytes }] of this.files) if (key.startsWith(prefix)) sum += bytes.length;
    return sum;
  }

  /** With what it is itself. Mounts are not followed. */
  removeTree(path: string): void {
    for (const key of this.files.keys())
      if (key === path || key.startsWith(`${path}/`)) this.files.delete(key);
  }

  /** Everything that is there for pods. */
  traces(): readonly string[] {
    const mounts = [...this.mounts].map(([path, { source }]) => `${source} ${path}`);
    const files = [...this.files.keys()].filter(
      (path) => path.startsWith(root) || path.startsWith('memory:'),
    );
    return [...this.pods.keys(), ...mounts, ...files];
  }

  #real(path: string): string {
    const found = this.#mountOf(path);
    return found ? `${found.mount.source}${path.slice(found.place.length)}` : path;
  }

  #mountOf(path: string): { readonly place: string; readonly mount: SimulatedMount } | undefined {
    for (const [place, mount] of this.mounts)
      if (path === place || path.startsWith(`${place}/`)) return { place, mount };
    return undefined;
  }
}
