import { asJson, type KubeObject } from '../../meta/object.ts';
import { defaultPersistentSource } from '../core/volume-defaults.ts';
import { ensureSpec, fill, objectAt, specOf, textsAt } from '../fields.ts';
import { roundResources } from '../resource-list.ts';

export function defaultStorageClass(storageClass: KubeObject): void {
  fill(asJson(storageClass), 'reclaimPolicy', 'Delete');
  fill(asJson(storageClass), 'volumeBindingMode', 'Immediate');
}

export function defaultCsiDriver(driver: KubeObject): void {
  const spec = ensureSpec(driver);
  fill(spec, 'attachRequired', true);
  fill(spec, 'podInfoOnMount', false);
  fill(spec, 'storageCapacity', false);
  fill(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
  if (textsAt(spec, 'volumeLifecycleModes').length === 0) spec['volumeLifecycleModes'] = ['Persistent'];
  fill(spec, 'requiresRepublish', false);
  fill(spec, 'seLinuxMount', false);
}

export function defaultVolumeAttachment(attachment: KubeObject): void {
  const inline = objectAt(objectAt(specOf(attachment), 'source') ?? {}, 'inlineVolumeSpec');
  if (inline === undefined) return;
  fill(inline, 'persistentVolumeReclaimPolicy', 'Retain');
  fill(inline, 'volumeMode', 'Filesystem');
  defaultPersistentSource(inline);
  roundResources(inline, 'capacity');
}
