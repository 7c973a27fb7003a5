import type { ApiExtensions } from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { type Clock, DisposableStore } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Images } from '@sheaf/ports';
import { EventRecorder, keyOf, type Manager } from '@sheaf/runtime';
import { imageRule } from './admission.ts';
import { imageIdAnnotation, placeOf } from './image-names.ts';
import { originalOf } from './image-source.ts';
import { reconcileImage } from './reconcile.ts';
import { imageRoutes } from './routes.ts';
import { UploadDesk } from './upload-desk.ts';

export { UploadDesk };

export interface ImageOptions {
  readonly images: Images;
  /** Shared by routes and controller: who sends, and how far they are. */
  readonly uploads: UploadDesk;
  /** The largest image that is taken; what does not fit into the storage is refused by that. Absent: 1 TiB. */
  readonly maxBytes?: number;
}

export interface ExtendOptions extends ImageOptions {
  readonly client: Client;
  readonly clock: Clock;
}

const usualMaxBytes = 2 ** 40;
const concurrency = 4;

/** Adds the rules of writing images, and their upload and download, to the API. */
export function extend(api: ApiExtensions, { maxBytes = usualMaxBytes, ...options }: ExtendOptions): void {
  api.addAdmission(imageRule);
  for (const route of imageRoutes({ ...options, maxBytes })) api.addRoute(route);
}

/** Brings images in, gives each its storage class, and removes them. */
export function register(
  manager: Manager,
  { images, uploads, maxBytes = usualMaxBytes }: ImageOptions,
): void {
  const { client, clock, logger, random } = manager;
  const recorder = new EventRecorder({
    client,
    clock,
    random,
    logger,
    component: 'harvester-vm-image-controller',
  });
  const objects = manager.informer(resources.virtualMachineImages);
  const classes = manager.informer(resources.storageClasses);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const volumes = manager.informer(resources.persistentVolumes);
  const instances = manager.informer(resources.virtualMachineInstances);
  const templateVersions = manager.informer(resources.virtualMachineTemplateVersions);
  const backups = manager.informer(resources.virtualMachineBackups);
  const settings = manager.informer(resources.settings);
  const snapshots = manager.informer(resources.volumeSnapshots);
  const snapshotContents = manager.informer(resources.volumeSnapshotContents);
  const caches = {
    images: objects.cache,
    classes: classes.cache,
    claims: claims.cache,
    volumes: volumes.cache,
    instances: instances.cache,
    templateVersions: templateVersions.cache,
    backups: backups.cache,
    settings: settings.cache,
    snapshots: snapshots.cache,
    snapshotContents: snapshotContents.cache,
  };
  const keysWhere = (isMeant: (image: VirtualMachineImage) => boolean): readonly string[] =>
    objects.cache.list().filter(isMeant).map(keyOf);
  const isExport = ({ spec }: VirtualMachineImage): boolean => spec.sourceType === 'export-from-volume';
  const isLeaving = ({ metadata }: VirtualMachineImage): boolean => metadata.deletionTimestamp !== undefined;
  const controller = manager
    .controller({
      name: 'virtual-machine-image',
      concurrency,
      reconcile: (key, signal) =>
        reconcileImage({ client, clock, logger, recorder, images, uploads, maxBytes, caches }, key, signal),
    })
    .watch(objects)
    .watchMapped(objects, (original) => keysWhere((image) => isCopyOf(image, original)))
    .watchMapped(classes, ({ metadata }) => {
      const place = placeOf(metadata.annotations?.[imageIdAnnotation]);
      return place ? [`${place.namespace}/${place.name}`] : [];
    })
    .watchMapped(claims, ({ metadata }) =>
      keysWhere((image) => isLeaving(image) || (isExport(image) && image.spec.pvcName === metadata.name)),
    )
    .watchMapped(volumes, ({ spec }) =>
      keysWhere((image) => isExport(image) && image.spec.pvcName === spec.claimRef?.name),
    )
    .watchMapped(instances, ({ metadata }) =>
      keysWhere((image) => isExport(image) && image.spec.pvcNamespace === metadata.namespace),
    )
    .watchMapped(templateVersions, () => keysWhere(isLeaving))
    .watchMapped(backups, () => keysWhere(isLeaving))
    .watchMapped(snapshots, ({ metadata }) =>
      keysWhere(({ metadata: { uid } }) => metadata.name === `image-${uid}`),
    )
    .watchMapped(snapshotContents, ({ spec }) =>
      keysWhere(({ metadata: { uid } }) => spec.volumeSnapshotRef.name === `image-${uid}`),
    )
    .watchMapped(settings, () => []);
  const wake = (id: string): void => {
    for (const key of keysWhere(({ metadata }) => metadata.uid === id)) controller.queue.add(key);
  };
  const lifetime = new DisposableStore();
  lifetime.add(images.onChange(wake));
  lifetime.add(uploads.onChange(wake));
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}

function isCopyOf(image: VirtualMachineImage, { metadata }: VirtualMachineImage): boolean {
  const place = originalOf(image);
  return place?.name === metadata.name && place?.namespace === metadata.namespace;
}
