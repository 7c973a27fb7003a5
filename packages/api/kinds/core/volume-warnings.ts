import type { JsonObject } from '@sheaf/base';
import type { KubeObject } from '../../meta/object.ts';
import { listAt, objectAt, specOf } from '../fields.ts';

/** Volume plugins that are gone or going: the field, what messages call it, and since when. */
const plugins: readonly (readonly [field: string, shown: string, since: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

export function pushVolumeWarnings(warnings: string[], field: string, spec: JsonObject): void {
  for (const [index, volume] of listAt(spec, 'volumes').entries())
    pushSourceWarnings(warnings, `${field}.volumes[${index}]`, volume);
}

function pushSourceWarnings(warnings: string[], field: string, source: JsonObject): void {
  for (const [name, shown, since] of plugins)
    if (objectAt(source, name) !== undefined) warnings.push(`${field}.${shown}: ${since}`);
}

const annotations: readonly (readonly [string, string])[] = [
  [
    'volume.beta.kubernetes.io/storage-class',
    'deprecated since v1.8; use "storageClassName" attribute instead',
  ],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

export function persistentVolumeWarnings(volume: KubeObject): readonly string[] {
  const warnings: string[] = [];
  for (const [key, detail] of annotations)
    if (volume.metadata.annotations?.[key] !== undefined)
      warnings.push(`metadata.annotations[${key}]: ${detail}`);
  const spec = specOf(volume);
  if (spec['persistentVolumeReclaimPolicy'] === 'Recycle')
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  pushSourceWarnings(warnings, 'spec', spec);
  return warnings;
}
