import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { objectAt, objectsAt, textAt } from './object-field.ts';

/** Names of objects in a pod's namespace that the pod uses. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configmaps: ReadonlySet<string>;
  readonly persistentvolumeclaims: ReadonlySet<string>;
  readonly resourceclaims: ReadonlySet<string>;
  readonly serviceaccounts: ReadonlySet<string>;
}

export const mirrorPodAnnotation = 'kubernetes.io/config.mirror';

/** Everything the pod's node must be able to read to run it. */
export function podReferences(pod: KubeObject): PodReferences {
  const spec = objectAt(pod, 'spec');
  return {
    secrets: names(secretNames(spec)),
    configmaps: names(configMapNames(spec)),
    persistentvolumeclaims: names(claimNames(pod, spec)),
    resourceclaims: names(resourceClaimNames(pod, spec)),
    serviceaccounts: names([textAt(spec, 'serviceAccountName')]),
  };
}

function names(values: Iterable<string>): ReadonlySet<string> {
  const set = new Set(values);
  set.delete('');
  return set;
}

function* secretNames(spec: JsonObject): Generator<string> {
  for (const reference of objectsAt(spec, 'imagePullSecrets')) yield textAt(reference, 'name');
  for (const container of containersOf(spec)) yield* containerNames(container, 'secretRef', 'secretKeyRef');
  for (const volume of objectsAt(spec, 'volumes')) yield* volumeSecrets(volume);
}

/** Volume kinds whose `secretRef` names a Secret of the pod's namespace. */
const kindsWithSecretRef = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'];

function* volumeSecrets(volume: JsonObject): Generator<string> {
  yield textAt(objectAt(volume, 'secret'), 'secretName');
  yield textAt(objectAt(volume, 'azureFile'), 'secretName');
  yield textAt(objectAt(objectAt(volume, 'csi'), 'nodePublishSecretRef'), 'name');
  for (const kind of kindsWithSecretRef) yield textAt(objectAt(objectAt(volume, kind), 'secretRef'), 'name');
  for (const source of objectsAt(objectAt(volume, 'projected'), 'sources')) {
    yield textAt(objectAt(source, 'secret'), 'name');
  }
}

function* configMapNames(spec: JsonObject): Generator<string> {
  for (const container of containersOf(spec))
    yield* containerNames(container, 'configMapRef', 'configMapKeyRef');
  for (const volume of objectsAt(spec, 'volumes')) {
    yield textAt(objectAt(volume, 'configMap'), 'name');
    for (const source of objectsAt(objectAt(volume, 'projected'), 'sources')) {
      yield textAt(objectAt(source, 'configMap'), 'name');
    }
  }
}

function* containersOf(spec: JsonObject): Generator<JsonObject> {
  yield* objectsAt(spec, 'initContainers');
  yield* objectsAt(spec, 'containers');
  yield* objectsAt(spec, 'ephemeralContainers');
}

function* containerNames(container: JsonObject, fromField: string, keyField: string): Generator<string> {
  for (const source of objectsAt(container, 'envFrom')) yield textAt(objectAt(source, fromField), 'name');
  for (const variable of objectsAt(container, 'env')) {
    yield textAt(objectAt(objectAt(variable, 'valueFrom'), keyField), 'name');
  }
}

function* claimNames(pod: KubeObject, spec: JsonObject): Generator<string> {
  for (const volume of objectsAt(spec, 'volumes')) {
    yield textAt(objectAt(volume, 'persistentVolumeClaim'), 'claimName');
    if ('ephemeral' in volume) yield `${pod.metadata.name ?? ''}-${textAt(volume, 'name')}`;
  }
}

function* resourceClaimNames(pod: KubeObject, spec: JsonObject): Generator<string> {
  const status = objectAt(pod, 'status');
  for (const claim of objectsAt(spec, 'resourceClaims')) yield textAt(claim, 'resourceClaimName');
  for (const made of objectsAt(status, 'resourceClaimStatuses')) yield textAt(made, 'resourceClaimName');
  yield textAt(objectAt(status, 'extendedResourceClaimStatus'), 'resourceClaimName');
}

/** Volume kinds that need nothing of the API. */
const freeVolumes = new Set([
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'downwardAPI',
  'emptyDir',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
]);

const boundVolumes: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};

const boundSources: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};

/** What other API objects a pod refers to, in words; `undefined` if none. Mirror pods must not refer to any. */
export function findApiReference(pod: KubeObject): string | undefined {
  const spec = objectAt(pod, 'spec');
  const references = podReferences(pod);
  if (references.serviceaccounts.size > 0) return 'serviceaccounts';
  if (references.secrets.size > 0) return 'secrets';
  if (references.configmaps.size > 0) return 'configmaps';
  if (objectsAt(spec, 'resourceClaims').length > 0) return 'resourceclaims';
  for (const volume of objectsAt(spec, 'volumes')) {
    const found = findVolumeReference(volume);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findVolumeReference(volume: JsonObject): string | undefined {
  for (const kind of Object.keys(volume)) {
    if (kind === 'name' || freeVolumes.has(kind)) continue;
    if (kind === 'projected') return findProjectedReference(volume);
    return boundVolumes[kind] ?? `unknown volume type for volume ${JSON.stringify(textAt(volume, 'name'))}`;
  }
  return undefined;
}

function findProjectedReference(volume: JsonObject): string | undefined {
  for (const source of objectsAt(objectAt(volume, 'projected'), 'sources')) {
    for (const kind of Object.keys(source)) {
      if (kind === 'downwardAPI') continue;
      return (
        boundSources[kind] ?? `unknown source for projected volume ${JSON.stringify(textAt(volume, 'name'))}`
      );
    }
  }
  return undefined;
}
