import { type Condition, findCondition, type KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { reachable } from '@sheaf/testkit/volumes/simulated-medium';
import { isDeleting, nameOf, type Objects } from '../objects.ts';
import { belongings } from './kinds.ts';
import { machineComplaints } from './machine-goals.ts';
import type { Safety } from './safety.ts';
import type { World } from './world.ts';

export interface GoalFacts {
  readonly objects: Objects;
  readonly world: World;
  readonly safety: Safety;
  readonly nowMs: number;
}

/** What must come once faults stop: every state that is not the goal is named here. */
export function findComplaints(facts: GoalFacts): readonly string[] {
  return [
    ...machineComplaints(facts),
    ...storageComplaints(facts),
    ...traceComplaints(facts),
    ...contentComplaints(facts),
  ];
}

/** What is still there after everything has been deleted. */
export function findRemains({ objects, world, safety }: GoalFacts): readonly string[] {
  const kinds = [...belongings, resources.persistentVolumes, resources.volumeSnapshotContents];
  const { medium, host, files } = world;
  const bases = imagesUnder(world, safety.mayStay);
  // An image that a kept volume lies on stays with it, and says so.
  const isBase = ({ metadata, spec = {} }: KubeObject): boolean =>
    [...bases].some((id) => metadata.uid === id || JSON.stringify(spec).includes(id));
  const left = kinds.flatMap((resource) =>
    objects
      .all(resource)
      .filter((object) => !isBase(object))
      .map((object) => nameOf(resource, object)),
  );
  return [
    ...left,
    ...[...host.machines.keys()].map((id) => `machine ${id}`),
    ...[...host.persistentKeys].map((key) => `what is kept under ${key}`),
    ...files.machineIds().map((id) => `files of machine ${id}`),
    ...[...medium.volumes.keys()].filter((id) => !safety.mayStay.has(id)).map((id) => `volume ${id}`),
    ...[...medium.snapshots.keys()].map((id) => `snapshot ${id}`),
    ...[...medium.images.keys()].filter((id) => !bases.has(id)).map((id) => `image ${id}`),
  ].map((text) => `${text} is left`);
}

/** Images that volumes which may stay lie on. */
function imagesUnder({ medium }: World, volumeIds: ReadonlySet<string>): ReadonlySet<string> {
  const tops = [...medium.volumes.values()].filter(({ id }) => volumeIds.has(id)).map(({ top }) => top);
  const layers = reachable(tops);
  const under = [...medium.images.values()].filter(({ layer }) => layer && layers.has(layer));
  return new Set(under.map(({ id }) => id));
}

function storageComplaints({ objects, world }: GoalFacts): readonly string[] {
  return [
    ...objects.all(resources.persistentVolumeClaims).flatMap((claim) => {
      const name = nameOf(resources.persistentVolumeClaims, claim);
      if (claim.status?.phase === 'Lost') return [`${name} has lost its volume`];
      if (isDeleting(claim)) return [];
      if (claim.status?.phase !== 'Bound') return unnamed(name, claim, ['Bound']);
      const volume = objects
        .all(resources.persistentVolumes)
        .find(({ metadata }) => metadata.name === claim.spec.volumeName);
      if (world.medium.volumes.has(volume?.spec.csi?.volumeHandle ?? '')) return [];
      return [`${name} is bound, and its volume is not there`];
    }),
    ...objects.all(resources.persistentVolumes).flatMap((volume) => {
      const isReleased = volume.status?.phase === 'Released' || isDeleting(volume);
      const goes = volume.spec.persistentVolumeReclaimPolicy === 'Delete';
      const isNamed = (volume.status?.message ?? '') !== '';
      return isReleased && goes && !isNamed
        ? [`${nameOf(resources.persistentVolumes, volume)} does not go`]
        : [];
    }),
    ...objects.all(resources.volumeSnapshots).flatMap((snapshot) => {
      if (snapshot.status?.readyToUse === true || snapshot.status?.error?.message) return [];
      return unnamed(nameOf(resources.volumeSnapshots, snapshot), snapshot, undefined);
    }),
    ...objects.all(resources.virtualMachineImages).flatMap((image) => {
      const types = isDeleting(image) ? ['Removable'] : ['Imported', 'Initialized'];
      return unnamed(nameOf(resources.virtualMachineImages, image), image, types);
    }),
    ...objects
      .all(resources.dataVolumes)
      .filter(({ status }) => status?.phase !== 'Succeeded')
      .flatMap((each) => unnamed(nameOf(resources.dataVolumes, each), each, undefined)),
    ...objects
      .all(resources.namespaces)
      .filter(isDeleting)
      .flatMap((each) => unnamed(nameOf(resources.namespaces, each), each, undefined)),
  ];
}

/** What waits says so: a condition of one of these types, or of any, with reason and message. */
function unnamed(name: string, object: KubeObject, types: readonly string[] | undefined): readonly string[] {
  const { conditions = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const said = types ? types.map((type) => findCondition(conditions, type)) : conditions;
  const isSaid = said.some(
    (condition) => (condition?.reason ?? '') !== '' && condition?.message !== undefined,
  );
  return isSaid ? [] : [`${name} is not done and says nothing`];
}

/** What guests have written last is what can be read, and nobody reads what another has written. */
function contentComplaints({ objects, world }: GoalFacts): readonly string[] {
  const users = new Map<string, string>();
  const shared = objects.all(resources.persistentVolumes).flatMap(({ spec, metadata }) => {
    const { volumeHandle = '' } = spec.csi ?? {};
    const other = users.get(volumeHandle);
    users.set(volumeHandle, metadata.name ?? '');
    return other === undefined ? [] : [`volume ${volumeHandle} is that of ${other} and ${metadata.name}`];
  });
  return [...shared, ...world.guests.findLosses()];
}

/** Nothing on the host and on its disk is without an object. */
function traceComplaints({ objects, world, safety }: GoalFacts): readonly string[] {
  const { medium, host, files } = world;
  const isInstance = (id: string): boolean =>
    objects.get(resources.virtualMachineInstances, id) !== undefined;
  const handles = new Set(objects.all(resources.persistentVolumes).map(({ spec }) => spec.csi?.volumeHandle));
  const isVolume = (id: string): boolean =>
    handles.has(id) ||
    safety.mayStay.has(id) ||
    objects.get(resources.persistentVolumeClaims, id) !== undefined;
  const ownImages = new Set(
    objects
      .all(resources.persistentVolumes)
      .map(({ spec }) => spec.csi?.volumeAttributes?.['sheaf.dev/own-image']),
  );
  const isImage = (id: string): boolean =>
    ownImages.has(id) ||
    objects.get(resources.virtualMachineImages, id) !== undefined ||
    objects.get(resources.dataVolumes, id) !== undefined;
  const contents = new Set(
    objects.all(resources.volumeSnapshotContents).map(({ spec }) => spec.volumeSnapshotRef.uid),
  );
  return [
    ...[...host.machines.keys()].filter((id) => !isInstance(id)).map((id) => `machine ${id}`),
    ...files
      .machineIds()
      .filter((id) => !isInstance(id))
      .map((id) => `files of machine ${id}`),
    ...[...medium.volumes.keys()].filter((id) => !isVolume(id)).map((id) => `volume ${id}`),
    ...[...medium.images.keys()].filter((id) => !isImage(id)).map((id) => `image ${id}`),
    ...[...medium.snapshots.keys()].filter((id) => !contents.has(id)).map((id) => `snapshot ${id}`),
  ].map((text) => `${text} belongs to nobody`);
}
