import { claimNameOf, type Pod, type Volume } from '@sheaf/api/workload/index';
import { parseQuantity, quantityAsBigInt } from '@sheaf/base';
import type { PodVolumeSpec } from '@sheaf/ports';
import { downwardFiles, type Files, keyedFiles, projectedFiles, type VolumeContent } from './volume-files.ts';

export type PlannedVolume = { readonly spec: PodVolumeSpec } | { readonly problem: string };

/** What is to be on the host for a volume of a pod. */
export function planVolume(pod: Pod, volume: Volume, content: VolumeContent): PlannedVolume {
  const group = pod.spec.securityContext?.fsGroup;
  const common = { name: volume.name, ...(group !== undefined && { group }) };
  const planned = kinds.map((kind) => kind({ pod, volume, content })).find((each) => each !== undefined);
  if (!planned) return { problem: unsupported(volume) };
  return 'problem' in planned ? planned : { spec: { ...common, ...planned } };
}

interface Question {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly content: VolumeContent;
}

type OwnPart<T> = T extends unknown ? Omit<T, 'name' | 'group'> : never;
type Answer = OwnPart<PodVolumeSpec> | { readonly problem: string } | undefined;

/** The first that knows the volume answers. */
const kinds: readonly ((question: Question) => Answer)[] = [
  ({ volume: { configMap }, content }) =>
    configMap &&
    asVolume(keyedFiles('configmap', configMap, { content, defaultMode: configMap.defaultMode })),
  ({ volume: { secret }, content }) =>
    secret &&
    asVolume(
      keyedFiles(
        'secret',
        { ...secret, name: secret.secretName ?? '' },
        { content, defaultMode: secret.defaultMode },
      ),
    ),
  ({ pod, volume: { downwardAPI }, content }) =>
    downwardAPI &&
    asVolume(downwardFiles(downwardAPI.items ?? [], { pod, content, defaultMode: downwardAPI.defaultMode })),
  ({ pod, volume: { projected }, content }) =>
    projected &&
    asVolume(projectedFiles(projected.sources, { pod, content, defaultMode: projected.defaultMode })),
  ({ volume: { emptyDir } }) =>
    emptyDir && {
      kind: 'directory',
      medium: emptyDir.medium === 'Memory' ? 'memory' : 'disk',
      ...(emptyDir.sizeLimit !== undefined && {
        sizeBytes: Number(quantityAsBigInt(parseQuantity(emptyDir.sizeLimit), 0)),
      }),
    },
  ({ volume: { hostPath } }) =>
    hostPath && {
      kind: 'host',
      path: hostPath.path,
      type: (hostPath.type ?? '') as Extract<PodVolumeSpec, { kind: 'host' }>['type'],
    },
  ({ pod, volume, content }) => {
    const name = claimNameOf(pod, volume);
    if (name === undefined) return undefined;
    const found = content.disk(name);
    if ('problem' in found) return found;
    const isReadOnly = found.isReadOnly || volume.persistentVolumeClaim?.readOnly === true;
    return { kind: 'volume', volumeId: found.volumeId, disk: found.disk, isReadOnly, fileSystem: 'ext4' };
  },
];

function unsupported(volume: Volume): string {
  const type = Object.keys(volume).find((key) => key !== 'name') ?? 'none';
  return `volumes of type ${type} cannot be mounted here; use a PersistentVolumeClaim, configMap, secret, projected, downwardAPI, emptyDir or hostPath`;
}

function asVolume(files: Files): Answer {
  return 'problem' in files ? files : { kind: 'files', files: files.files };
}
