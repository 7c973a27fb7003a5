import type { KubeObject } from '@sheaf/api';

const known = new WeakMap<KubeObject, KubeObject>();

/** An object as those see it who ask for its metadata alone. */
export function metadataOf(object: KubeObject): KubeObject {
  let partial = known.get(object);
  if (!partial) {
    partial = {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: object.metadata,
    };
    known.set(object, partial);
  }
  return partial;
}
