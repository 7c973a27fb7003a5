import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { claimNameOf, type InstanceSpec, type VolumeSpec } from '../instance-spec.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../virtual-machine.ts';

/** One object, and those that it needs; as `virtctl objectgraph` shows them. */
export interface GraphNode {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: 'storage' | 'network' | 'compute' | 'config';
  /** It can be done without elsewhere. */
  readonly isOptional?: boolean;
  readonly children?: readonly GraphNode[];
}

export interface GraphOptions {
  readonly includeOptionalNodes?: boolean;
  /** Labels that nodes have. */
  readonly labels?: Readonly<Record<string, string>>;
}

const dependencyLabel = 'kubevirt.io/dependency-type';

export function machineGraph(
  machine: VirtualMachine,
  instance: VirtualMachineInstance | undefined,
): GraphNode {
  const { namespace = '', name = '' } = machine.metadata;
  const { spec } = machine.spec.template;
  const running = instance ? [{ ...computeNode('VirtualMachineInstance', instance) }] : [];
  const chosen = [
    ...matcherNodes(machine.spec.instancetype, 'Instancetype', namespace),
    ...matcherNodes(machine.spec.preference, 'Preference', namespace),
  ];
  const children = [...running, ...chosen, ...partsOf(spec, namespace)];
  return { ...computeNode('VirtualMachine', { metadata: { namespace, name } }), children };
}

export function instanceGraph(instance: VirtualMachineInstance): GraphNode {
  const children = partsOf(instance.spec, instance.metadata.namespace ?? '');
  return { ...computeNode('VirtualMachineInstance', instance), children };
}

function computeNode(kind: string, { metadata }: Pick<VirtualMachineInstance, 'metadata'>): GraphNode {
  const { namespace = '', name = '' } = metadata;
  return { group: 'kubevirt.io', kind, namespace, name, type: 'compute' };
}

function matcherNodes(matcher: unknown, word: string, namespace: string): readonly GraphNode[] {
  if (!isJsonObject(matcher) || typeof matcher['name'] !== 'string') return [];
  const { kind } = matcher;
  const isCluster = typeof kind !== 'string' || /^virtualmachinecluster/i.test(kind);
  const named = { kind: isCluster ? `VirtualMachineCluster${word}` : `VirtualMachine${word}` };
  return [
    {
      group: 'instancetype.kubevirt.io',
      ...named,
      namespace: isCluster ? '' : namespace,
      name: matcher['name'],
      type: 'config',
      isOptional: true,
    },
  ];
}

function partsOf(spec: InstanceSpec, namespace: string): readonly GraphNode[] {
  return [
    ...credentialSecrets(spec).map((name) => coreNode('Secret', name, namespace)),
    ...(spec.volumes ?? []).flatMap((volume) => volumeNodes(volume, namespace)),
    ...networkNodes(spec, namespace),
  ];
}

function credentialSecrets({ accessCredentials = [] }: InstanceSpec): readonly string[] {
  return accessCredentials.flatMap(({ sshPublicKey, userPassword }) => {
    const secret = (sshPublicKey ?? userPassword)?.source.secret;
    return secret ? [secret.secretName] : [];
  });
}

function volumeNodes(volume: VolumeSpec, namespace: string): readonly GraphNode[] {
  const claimName = claimNameOf(volume);
  if (claimName !== undefined) return [claimNode(volume, claimName, namespace)];
  const { configMap, secret, serviceAccount } = volume;
  const named = (kind: string, name: string | undefined): readonly GraphNode[] =>
    name === undefined ? [] : [coreNode(kind, name, namespace)];
  return [
    ...named('ConfigMap', configMap?.name),
    ...named('Secret', secret?.secretName),
    ...named('ServiceAccount', serviceAccount?.serviceAccountName),
    ...cloudInitSecrets(volume).map((name) => coreNode('Secret', name, namespace)),
  ];
}

function claimNode(volume: VolumeSpec, name: string, namespace: string): GraphNode {
  const claim: GraphNode = { group: '', kind: 'PersistentVolumeClaim', namespace, name, type: 'storage' };
  if (!volume.dataVolume) return claim;
  return {
    group: 'cdi.kubevirt.io',
    kind: 'DataVolume',
    namespace,
    name,
    type: 'storage',
    children: [claim],
  };
}

function cloudInitSecrets({ cloudInitNoCloud, cloudInitConfigDrive }: VolumeSpec): readonly string[] {
  const source = cloudInitNoCloud ?? cloudInitConfigDrive;
  return [source?.secretRef?.name, source?.networkDataSecretRef?.name].filter((name) => name !== undefined);
}

function coreNode(kind: string, name: string, namespace: string): GraphNode {
  return { group: '', kind, namespace, name, type: 'config' };
}

function networkNodes({ networks = [] }: InstanceSpec, namespace: string): readonly GraphNode[] {
  return networks.flatMap(({ multus }): readonly GraphNode[] => {
    if (!multus) return [];
    const words = multus.networkName.split('/');
    const [place = namespace, name = multus.networkName] = words.length === 2 ? words : [];
    const group = 'k8s.cni.cncf.io';
    const kind = 'NetworkAttachmentDefinition';
    return [{ group, kind, namespace: place, name, type: 'network', isOptional: true }];
  });
}

/** A graph as it is answered; nodes that are not wanted are left out with all below them. */
export function graphJson(node: GraphNode, options: GraphOptions): JsonObject {
  const children = (node.children ?? [])
    .filter((child) => isWanted(child, options))
    .map((child): JsonValue => graphJson(child, options));
  const { group, kind, namespace, name, type } = node;
  return {
    objectReference: { apiGroup: group, kind, name, namespace },
    labels: { [dependencyLabel]: type },
    ...(node.isOptional === true ? { optional: true } : {}),
    ...(children.length > 0 ? { children } : {}),
  };
}

function isWanted(node: GraphNode, { includeOptionalNodes = true, labels = {} }: GraphOptions): boolean {
  if (node.isOptional === true && !includeOptionalNodes) return false;
  const own: Readonly<Record<string, string>> = { [dependencyLabel]: node.type };
  return Object.entries(labels).every(([label, value]) => own[label] === value);
}

/** The body of a request for a graph. */
export function readGraphOptions(body: JsonObject | undefined): GraphOptions {
  const wanted = body?.['includeOptionalNodes'];
  const selector = body?.['labelSelector'];
  const labels = isJsonObject(selector) ? selector['matchLabels'] : undefined;
  return {
    ...(typeof wanted === 'boolean' ? { includeOptionalNodes: wanted } : {}),
    ...(isJsonObject(labels) ? { labels: textsOf(labels) } : {}),
  };
}

function textsOf(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, typeof value === 'string' ? value : '']),
  );
}
