import type { AdmissionObjects, GroupResource, KubeObject } from '@sheaf/api';

const provisioner = 'lvm.driver.harvesterhci.io';

interface LvmResources {
  readonly classes: GroupResource;
  readonly claims: GroupResource;
  readonly snapshotClasses: GroupResource;
  readonly snapshots: GroupResource;
  readonly contents: GroupResource;
  readonly blockDevices: GroupResource;
}

interface Driven extends KubeObject {
  readonly provisioner?: string;
  readonly driver?: string;
  readonly spec?: {
    readonly driver?: string;
    readonly storageClassName?: string;
    readonly volumeSnapshotClassName?: string;
    readonly provisioner?: { readonly lvm?: unknown };
  };
}

/** Everything that still uses storage of the LVM driver. Classes that a chart has made go with it. */
export function lvmUsers(objects: AdmissionObjects, resources: LvmResources): readonly string[] {
  const list = (resource: GroupResource): readonly Driven[] => objects.list(resource);
  const classes = list(resources.classes).filter((each) => each.provisioner === provisioner);
  const snapshotClasses = list(resources.snapshotClasses).filter((each) => each.driver === provisioner);
  const isOf = (names: readonly Driven[], name: string | undefined): boolean =>
    names.some(({ metadata }) => metadata.name === name);
  return [
    ...named('StorageClass', classes.filter(isByHand)),
    ...named(
      'PersistentVolumeClaim',
      list(resources.claims).filter(({ spec }) => isOf(classes, spec?.storageClassName)),
    ),
    ...named('VolumeSnapshotClass', snapshotClasses.filter(isByHand)),
    ...named(
      'VolumeSnapshot',
      list(resources.snapshots).filter(({ spec }) => isOf(snapshotClasses, spec?.volumeSnapshotClassName)),
    ),
    ...named(
      'VolumeSnapshotContent',
      list(resources.contents).filter(({ spec }) => spec?.driver === provisioner),
    ),
    ...named(
      'BlockDevice',
      list(resources.blockDevices).filter(({ spec }) => spec?.provisioner?.lvm !== undefined),
    ),
  ];
}

function isByHand({ metadata }: KubeObject): boolean {
  return metadata.labels?.['app.kubernetes.io/managed-by'] !== 'Helm';
}

function named(kind: string, objects: readonly KubeObject[]): readonly string[] {
  return objects.map(({ metadata: { namespace, name } }) =>
    namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`,
  );
}
