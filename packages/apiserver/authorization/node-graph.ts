import type { KubeObject } from '@sheaf/api';
import { type Disposable, DisposableStore, jsonEqual } from '@sheaf/base';
import type { LiveChange, LiveView, LiveViews } from '../storage/live-view.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import { mirrorPodAnnotation, podReferences } from './pod-references.ts';

/** Objects that pods on a node make readable for it. */
export type NodeReadable =
  | 'secrets'
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'resourceclaims'
  | 'serviceaccounts';

export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Which node needs which object, from pods and persistent volumes. Nothing is held until the first question of a node;
 * then the pods are indexed once and followed change by change.
 */
export class NodeGraph implements Disposable {
  readonly #views: LiveViews;
  readonly #pods: LiveView;
  readonly #volumes: LiveView;
  readonly #disposables = new DisposableStore();
  /** `resource/namespace/name` → node → number of pods that need it there. */
  readonly #needs = new Map<string, Map<string, number>>();
  /** Pod → what was counted for it. */
  readonly #counted = new Map<string, { readonly node: string; readonly keys: readonly string[] }>();
  /** `namespace/name` of a Secret → names of the volumes that need it. */
  readonly #volumesOfSecret = new Map<string, Set<string>>();
  readonly #secretsOfVolume = new Map<string, readonly string[]>();
  #isBuilt = false;

  constructor(views: LiveViews) {
    this.#views = views;
    this.#pods = views.of('', 'pods');
    this.#volumes = views.of('', 'persistentvolumes');
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Whether a pod on the node uses the object, directly or through a volume. */
  isNeeded(node: string, resource: NodeReadable, { namespace, name }: ObjectKey): boolean {
    this.#build();
    if (this.#needs.get(`${resource}/${namespace}/${name}`)?.has(node)) return true;
    if (resource !== 'secrets') return false;
    for (const volume of this.#volumesOfSecret.get(`${namespace}/${name}`) ?? []) {
      if (this.isVolumeNeeded(node, volume)) return true;
    }
    return false;
  }

  /** Whether the claim that a persistent volume is bound to is used by a pod on the node. */
  isVolumeNeeded(node: string, name: string): boolean {
    this.#build();
    const claim = claimOf(this.#volumes.get('', name));
    return claim !== undefined && this.#needs.get(`persistentvolumeclaims/${claim}`)?.has(node) === true;
  }

  isPodOn(node: string, namespace: string, name: string): boolean {
    return node !== '' && textAt(objectAt(this.#pods.get(namespace, name), 'spec'), 'nodeName') === node;
  }

  /** Whether `spec.nodeName` of an object of that resource is the node. */
  isNamedIn(node: string, [group, resource]: readonly [string, string], key: ObjectKey): boolean {
    const object = this.#views.of(group, resource).get(key.namespace, key.name);
    return textAt(objectAt(object, 'spec'), 'nodeName') === node;
  }

  #build(): void {
    if (this.#isBuilt) return;
    this.#isBuilt = true;
    for (const pod of this.#pods.list()) this.#addPod(keyOf(pod), pod);
    for (const volume of this.#volumes.list()) this.#addVolume(volume.metadata.name ?? '', volume);
    this.#disposables.add(this.#pods.onChange((change) => this.#followPod(change)));
    this.#disposables.add(
      this.#volumes.onChange(({ name, object }) => {
        this.#removeVolume(name);
        if (object) this.#addVolume(name, object);
      }),
    );
  }

  #followPod({ namespace, name, object, previous }: LiveChange): void {
    if (object && previous && needsTheSame(object, previous)) return;
    const key = `${namespace}/${name}`;
    this.#removePod(key);
    if (object) this.#addPod(key, object);
  }

  #addPod(key: string, pod: KubeObject): void {
    const node = textAt(objectAt(pod, 'spec'), 'nodeName');
    if (node === '' || pod.metadata.annotations?.[mirrorPodAnnotation] !== undefined) return;
    const namespace = pod.metadata.namespace ?? '';
    const keys: string[] = [];
    for (const [resource, names] of Object.entries(podReferences(pod)) as [string, ReadonlySet<string>][]) {
      for (const name of names) keys.push(`${resource}/${namespace}/${name}`);
    }
    for (const need of keys) this.#count(need, node, 1);
    this.#counted.set(key, { node, keys });
  }

  #removePod(key: string): void {
    const counted = this.#counted.get(key);
    if (!counted) return;
    for (const need of counted.keys) this.#count(need, counted.node, -1);
    this.#counted.delete(key);
  }

  #count(need: string, node: string, change: number): void {
    let nodes = this.#needs.get(need);
    if (!nodes) this.#needs.set(need, (nodes = new Map()));
    const count = (nodes.get(node) ?? 0) + change;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size === 0) this.#needs.delete(need);
  }

  #addVolume(name: string, volume: KubeObject): void {
    const secrets = [...volumeSecrets(volume)];
    for (const secret of secrets) {
      let volumes = this.#volumesOfSecret.get(secret);
      if (!volumes) this.#volumesOfSecret.set(secret, (volumes = new Set()));
      volumes.add(name);
    }
    this.#secretsOfVolume.set(name, secrets);
  }

  #removeVolume(name: string): void {
    for (const secret of this.#secretsOfVolume.get(name) ?? []) {
      const volumes = this.#volumesOfSecret.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret);
    }
    this.#secretsOfVolume.delete(name);
  }
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;
}

/** A bound pod's references are immutable but for ephemeral containers and claims made for it. */
function needsTheSame(pod: KubeObject, previous: KubeObject): boolean {
  const [spec, old] = [objectAt(pod, 'spec'), objectAt(previous, 'spec')];
  const [status, oldStatus] = [objectAt(pod, 'status'), objectAt(previous, 'status')];
  return (
    pod.metadata.uid === previous.metadata.uid &&
    textAt(spec, 'nodeName') === textAt(old, 'nodeName') &&
    objectsAt(spec, 'ephemeralContainers').length === objectsAt(old, 'ephemeralContainers').length &&
    jsonEqual(status['resourceClaimStatuses'], oldStatus['resourceClaimStatuses']) &&
    jsonEqual(status['extendedResourceClaimStatus'], oldStatus['extendedResourceClaimStatus'])
  );
}

function claimOf(volume: KubeObject | undefined): string | undefined {
  const claim = objectAt(objectAt(volume, 'spec'), 'claimRef');
  const name = textAt(claim, 'name');
  return name === '' ? undefined : `${textAt(claim, 'namespace')}/${name}`;
}

/** Secrets a kubelet needs for a bound volume, as `namespace/name`. */
function* volumeSecrets(volume: KubeObject): Generator<string> {
  const spec = objectAt(volume, 'spec');
  const claim = objectAt(spec, 'claimRef');
  if (textAt(claim, 'name') === '') return;
  const claimNamespace = textAt(claim, 'namespace');
  const azure = objectAt(spec, 'azureFile');
  const azureName = textAt(azure, 'secretName');
  if (azureName !== '') yield `${textAt(azure, 'secretNamespace') || claimNamespace}/${azureName}`;
  for (const kind of ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos']) {
    yield* namedSecret(objectAt(objectAt(spec, kind), 'secretRef'), claimNamespace);
  }
  for (const field of ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef']) {
    yield* namedSecret(objectAt(objectAt(spec, 'csi'), field), '');
  }
}

function* namedSecret(reference: unknown, defaultNamespace: string): Generator<string> {
  const name = textAt(reference, 'name');
  if (name !== '') yield `${textAt(reference, 'namespace') || defaultNamespace}/${name}`;
}
