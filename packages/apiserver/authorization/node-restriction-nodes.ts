import type { KubeObject } from '@sheaf/api';
import { jsonEqual } from '@sheaf/base';
import type { NodeWrite } from './node-restriction.ts';
import { objectAt, objectsAt } from './object-field.ts';

/** Labels of kubernetes.io and k8s.io that a kubelet reports itself. */
const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

/** A node writes only its own Node, and nothing there that would draw workloads to it: no taints, no foreign labels. */
export function checkNodeWrite({ request, node, refuse }: NodeWrite): void {
  const name = JSON.stringify(node);
  const requested = request.name || (request.object?.metadata.name ?? '');
  if (requested !== node)
    throw refuse(`node ${name} is not allowed to modify node ${JSON.stringify(requested)}`);
  const { operation, object, oldObject } = request;
  if (operation === 'CREATE' && object) checkCreate({ object, name, refuse });
  if (operation === 'UPDATE' && object && oldObject) checkUpdate({ object, name, refuse }, oldObject);
}

interface OwnNode {
  readonly object: KubeObject;
  /** Quoted. */
  readonly name: string;
  readonly refuse: NodeWrite['refuse'];
}

function checkCreate({ object, name, refuse }: OwnNode): void {
  if (configSource(object))
    throw refuse(`node ${name} is not allowed to create pods with a non-nil configSource`);
  const labels = forbiddenLabels(object.metadata.labels ?? {}, {});
  if (labels.length > 0)
    throw refuse(`node ${name} is not allowed to set the following labels: ${labels.join(', ')}`);
}

function checkUpdate({ object, name, refuse }: OwnNode, old: KubeObject): void {
  if (configSource(object) && !jsonEqual(configSource(object), configSource(old))) {
    throw refuse(`node ${name} is not allowed to update configSource to a new non-nil configSource`);
  }
  const [taints, oldTaints] = [objectsAt(object['spec'], 'taints'), objectsAt(old['spec'], 'taints')];
  if (!jsonEqual([...taints], [...oldTaints])) throw refuse(`node ${name} is not allowed to modify taints`);
  if (!jsonEqual(ownersOf(object), ownersOf(old)))
    throw refuse(`node ${name} is not allowed to modify ownerReferences`);
  const labels = forbiddenLabels(object.metadata.labels ?? {}, old.metadata.labels ?? {});
  if (labels.length > 0) throw refuse(`is not allowed to modify labels: ${labels.join(', ')}`);
}

function configSource(node: KubeObject) {
  return objectAt(node, 'spec')['configSource'] ?? undefined;
}

function ownersOf(node: KubeObject) {
  return [...objectsAt(node.metadata, 'ownerReferences')];
}

type Labels = Readonly<Record<string, string>>;

/** Labels that differ and that a node must not change, sorted. */
function forbiddenLabels(labels: Labels, old: Labels): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(old)]);
  return [...keys].filter((key) => labels[key] !== old[key] && isForbidden(key)).sort();
}

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return false;
  const domain = key.slice(0, slash);
  if (isWithin(domain, 'node-restriction.kubernetes.io')) return true;
  const isReserved = isWithin(domain, 'kubernetes.io') || isWithin(domain, 'k8s.io');
  return (
    isReserved &&
    !kubeletLabels.has(key) &&
    !isWithin(domain, 'kubelet.kubernetes.io') &&
    !isWithin(domain, 'node.kubernetes.io')
  );
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
