import type { Disposable } from '@sheaf/base';
import type {
  Capability,
  ContainerDisks,
  Images,
  MachineMemories,
  VolumeCapabilities,
  Volumes,
} from '@sheaf/ports';
import { Announcer } from './announcer.ts';
import { ContainerFetch } from './container/container-fetch.ts';
import { type ContainerRecord, LocalContainerDisks } from './container/local-container-disks.ts';
import { Skopeo } from './container/skopeo.ts';
import { DirectoryLayout } from './directory-layout.ts';
import { lockDirectory } from './directory-lock.ts';
import { DiskState, type DiskSurroundings } from './disk-state.ts';
import { type AddressBook, HttpSource, systemAddressBook } from './http-source.ts';
import { type ImageLimits, usualImageLimits } from './image-limits.ts';
import { ImageWork } from './image-work.ts';
import { chainOf } from './layer-graph.ts';
import { LayerMerge } from './layer-merge.ts';
import { LocalImages } from './local-images.ts';
import { LocalMemories } from './local-memories.ts';
import { LocalVolumes } from './local-volumes.ts';
import { findProgram } from './program-runner.ts';
import { RecordFolder } from './records.ts';
import { recover } from './recovery.ts';
import { SpaceLedger, type SpaceOptions } from './space-ledger.ts';
import { VolumeMaking } from './volume-making.ts';
import { VolumeSnapshots } from './volume-snapshots.ts';

export interface LocalDiskOptions extends DiskSurroundings, SpaceOptions {
  readonly limits?: Partial<ImageLimits>;
  /** Absent: the system's resolver and the ranges that everybody uses. */
  readonly addresses?: AddressBook;
}

/** Volumes and images in one directory of this machine, which belongs to this process until `dispose`. */
export interface LocalDisk {
  readonly volumes: Volumes;
  readonly images: Images;
  readonly containerDisks: ContainerDisks;
  readonly memories: MachineMemories;
  /** Resolves when no layers are being merged in the background. */
  idle(): Promise<void>;
  /** Interrupts what is going on; the next life goes on with it. */
  dispose(): Promise<void>;
}

/** @throws Error when the directory is in use by another process, or what is in it cannot be understood */
export async function openLocalDisk(options: LocalDiskOptions): Promise<LocalDisk> {
  const layout = new DirectoryLayout(options.directory);
  await layout.prepareRoot();
  const lock = await lockDirectory(options.directory, options.clock);
  try {
    await layout.prepare();
    const disk = await DiskState.open(options, layout);
    await recover(disk);
    const records = await RecordFolder.open<ContainerRecord>(layout.records('containers'));
    return compose(disk, { options, lock, records, capabilities: await capabilities() });
  } catch (error) {
    lock.dispose();
    throw error;
  }
}

interface Surroundings {
  readonly options: LocalDiskOptions;
  readonly lock: Disposable;
  readonly records: RecordFolder<ContainerRecord>;
  readonly capabilities: VolumeCapabilities;
}

function compose(disk: DiskState, { options, lock, records, capabilities: can }: Surroundings): LocalDisk {
  const limits = { ...usualImageLimits, ...options.limits };
  const ledger = new SpaceLedger(disk, options);
  const announcer = new Announcer(disk.logger);
  const imageAnnouncer = new Announcer(disk.logger);
  const merge = new LayerMerge(disk, (layer) => announceUsers(disk, announcer, layer));
  const onCopied = (): void => merge.begin();
  const onChange = (id: string): void => announcer.announce(id);
  const making = new VolumeMaking({ disk, ledger, merge, onCopied, onChange });
  const snapshots = new VolumeSnapshots(disk, ledger);
  const volumes = new LocalVolumes({ disk, ledger, making, snapshots, merge, announcer, capabilities: can });
  const work = new ImageWork({
    disk,
    ledger,
    merge,
    onCopied,
    source: new HttpSource(options.addresses ?? systemAddressBook),
    limits,
    onPercent: (id, percent) => images.reportPercent(id, percent),
    onBytes: (id, bytes) => images.reportBytes(id, bytes),
  });
  const images = new LocalImages({ disk, work, announcer: imageAnnouncer });
  const skopeo = new Skopeo(disk.runner);
  const containerDisks = new LocalContainerDisks({
    disk,
    records,
    images,
    skopeo,
    fetch: new ContainerFetch({ disk, ledger, skopeo, maxBytes: limits.containerBytes }),
    announcer: new Announcer(disk.logger),
    maxBytes: limits.containerBytes,
    retryMs: limits.containerRetryMs,
  });
  merge.begin();
  images.resume();
  return {
    volumes,
    images,
    containerDisks,
    memories: new LocalMemories(disk, ledger),
    idle: () => merge.idle(),
    async dispose() {
      await containerDisks.dispose();
      await images.dispose();
      await making.dispose();
      await merge.dispose();
      lock.dispose();
    },
  };
}

function announceUsers({ volumes, layers }: DiskState, announcer: Announcer, layer: string): void {
  for (const { id, top } of volumes.all())
    if (chainOf(layers.graph, top).includes(layer)) announcer.announce(id);
}

async function capabilities(): Promise<VolumeCapabilities> {
  const can = await qemuImgCapability();
  return { volumes: can, snapshot: can, clone: can, expand: can, onlineExpand: can };
}

async function qemuImgCapability(): Promise<Capability> {
  const path = await findProgram('qemu-img');
  if (path !== undefined) return { isAvailable: true, reason: `disks are made by ${path}` };
  return {
    isAvailable: false,
    reason: 'qemu-img is not installed',
    wayOut: 'install qemu-utils (Debian, Ubuntu), qemu-img (Fedora) or qemu-tools (SUSE)',
  };
}
