import type { User } from '../authentication/user.ts';
import type {
  AuthorizationAttributes,
  AuthorizationDecision,
  Authorizer,
  ResourceAttributes,
  SelectorRequirement,
} from './attributes.ts';
import nodeRuleData from './generated/node-rules.json' with { type: 'json' };
import type { NodeGraph, NodeReadable } from './node-graph.ts';
import { parseRules, ruleAllows } from './policy-rule.ts';

const nodePrefix = 'system:node:';

/** `undefined`: not a node. An empty name: a node that does not say which. */
export function nodeNameOf(user: User): string | undefined {
  if (!user.groups.includes('system:nodes') || !user.name.startsWith(nodePrefix)) return undefined;
  return user.name.slice(nodePrefix.length);
}

const allowed: AuthorizationDecision = { decision: 'allow', reason: '' };
const silent: AuthorizationDecision = { decision: 'no-opinion', reason: '' };
const nodeRules = parseRules(nodeRuleData);

function refuse(reason: string): AuthorizationDecision {
  return { decision: 'no-opinion', reason };
}

/** A node that asks, what it asks, and what is known of its pods. */
interface Question {
  readonly node: string;
  readonly attributes: ResourceAttributes;
  readonly graph: NodeGraph;
}

type Rule = (question: Question) => AuthorizationDecision;

/**
 * What kubelets may do: their own Node, Lease and CSINode, the pods bound to them, and what those pods use. Lists and
 * watches must be narrowed by a selector to the node itself. Reasons say what would have been allowed.
 */
export class NodeAuthorizer implements Authorizer {
  readonly #graph: NodeGraph;

  constructor(graph: NodeGraph) {
    this.#graph = graph;
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationDecision {
    const node = nodeNameOf(attributes.user);
    if (node === undefined) return silent;
    if (node === '') return refuse(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    if (attributes.isResource) {
      const rule = rules.get(`${attributes.group}/${attributes.resource}`);
      if (rule) return rule({ node, attributes, graph: this.#graph });
    }
    return nodeRules.some((rule) => ruleAllows(rule, attributes)) ? allowed : silent;
  }
}

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/secrets', (question) => readNeeded(question, 'secrets')],
  ['/configmaps', (question) => readNeeded(question, 'configmaps')],
  ['/persistentvolumeclaims', useClaim],
  [
    '/persistentvolumes',
    (question) =>
      getRelated(question, ({ node, attributes, graph }) => graph.isVolumeNeeded(node, attributes.name)),
  ],
  ['resource.k8s.io/resourceclaims', (question) => getRelated(question, isNeeded('resourceclaims'))],
  [
    'storage.k8s.io/volumeattachments',
    (question) => getRelated(question, isNamedIn('storage.k8s.io', 'volumeattachments')),
  ],
  ['/serviceaccounts', useServiceAccount],
  ['coordination.k8s.io/leases', useLease],
  ['storage.k8s.io/csinodes', useCsiNode],
  ['resource.k8s.io/resourceslices', useResourceSlice],
  ['/nodes', useNode],
  ['/pods', usePod],
  ['certificates.k8s.io/podcertificaterequests', useCertificateRequest],
]);

type Relation = (question: Question) => boolean;

function isNeeded(resource: NodeReadable): Relation {
  return ({ node, attributes, graph }) => graph.isNeeded(node, resource, attributes);
}

function isNamedIn(group: string, resource: string): Relation {
  return ({ node, attributes, graph }) => graph.isNamedIn(node, [group, resource], attributes);
}

function isOwnPod({ node, attributes, graph }: Question): boolean {
  return graph.isPodOn(node, attributes.namespace, attributes.name);
}

function related(question: Question, relation: Relation): AuthorizationDecision {
  if (question.attributes.name === '') return refuse('No Object name found');
  return relation(question)
    ? allowed
    : refuse(`no relationship found between node '${question.node}' and this object`);
}

function getRelated(question: Question, relation: Relation): AuthorizationDecision {
  if (question.attributes.verb !== 'get') return refuse('can only get individual resources of this type');
  if (question.attributes.subresource !== '') return refuse('cannot get subresource');
  return related(question, relation);
}

function readNeeded(question: Question, resource: NodeReadable): AuthorizationDecision {
  const { verb, subresource, namespace } = question.attributes;
  if (!isRead(verb)) return refuse('can only read resources of this type');
  if (subresource !== '') return refuse('cannot read subresource');
  if (namespace === '') return refuse('can only read namespaced object of this type');
  return related(question, isNeeded(resource));
}

function isRead(verb: string): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch';
}

function isOwnObjectVerb(verb: string): boolean {
  return verb === 'get' || verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete';
}

function useClaim(question: Question): AuthorizationDecision {
  const { subresource, verb } = question.attributes;
  if (subresource !== 'status') return getRelated(question, isNeeded('persistentvolumeclaims'));
  if (verb !== 'update' && verb !== 'patch') return refuse('can only get/update/patch this type');
  return related(question, isNeeded('persistentvolumeclaims'));
}

function useServiceAccount(question: Question): AuthorizationDecision {
  const { verb, subresource, name } = question.attributes;
  if (verb === 'get' && subresource === '') return readNeeded(question, 'serviceaccounts');
  if (verb !== 'create' || name === '')
    return refuse('can only create tokens for individual service accounts');
  if (subresource !== 'token') return refuse('can only create token subresource of serviceaccount');
  return related(question, isNeeded('serviceaccounts'));
}

function useLease({ node, attributes }: Question): AuthorizationDecision {
  const { verb, namespace, name } = attributes;
  if (!isOwnObjectVerb(verb)) return refuse('can only get, create, update, patch, or delete a node lease');
  if (namespace !== 'kube-node-lease')
    return refuse('can only access leases in the "kube-node-lease" system namespace');
  // The name of a new lease is checked by admission; it is not known here.
  if (verb === 'create' || name === node) return allowed;
  return refuse('can only access node lease with the same name as the requesting node');
}

function useCsiNode({ node, attributes }: Question): AuthorizationDecision {
  const { verb, subresource, name } = attributes;
  if (!isOwnObjectVerb(verb)) return refuse('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return refuse('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return allowed;
  return refuse('can only access CSINode with the same name as the requesting node');
}

function useResourceSlice(question: Question): AuthorizationDecision {
  const { verb, subresource } = question.attributes;
  if (subresource !== '') return refuse('cannot authorize ResourceSlice subresources');
  if (verb === 'create') return allowed;
  if (isOwnObjectVerb(verb)) return related(question, isNamedIn('resource.k8s.io', 'resourceslices'));
  if (verb !== 'watch' && verb !== 'list' && verb !== 'deletecollection') {
    return refuse(
      'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
    );
  }
  return selectsNode(question, 'nodeName')
    ? allowed
    : refuse('can only list/watch/deletecollection resourceslices with nodeName field selector');
}

/** Only its own Node can be read; that a node writes no other one is admission's to see. */
function useNode({ node, attributes }: Question): AuthorizationDecision {
  const { verb, subresource, name } = attributes;
  const isWrite = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return isWrite ? allowed : silent;
  if (subresource !== '') return silent;
  if (isWrite || verb === 'create') return allowed;
  if (!isRead(verb)) return silent;
  if (name === node) return allowed;
  return name === ''
    ? refuse(`node '${node}' cannot read all nodes, only its own Node object`)
    : refuse(`node '${node}' cannot read '${name}', only its own Node object`);
}

function usePod(question: Question): AuthorizationDecision {
  const { verb, subresource } = question.attributes;
  const free = podVerbs.get(subresource);
  if (free?.includes(verb)) return allowed;
  if (subresource !== '' || !isRead(verb)) return silent;
  if (verb === 'get') return related(question, isOwnPod);
  if (selectsNode(question, 'spec.nodeName')) return allowed;
  if (question.attributes.name !== '') return related(question, isOwnPod);
  return refuse('can only list/watch pods with spec.nodeName field selector');
}

/** Writes by subresource; admission limits them to mirror pods and pods bound to the node. */
const podVerbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['', ['create', 'delete']],
  ['status', ['update', 'patch']],
  ['eviction', ['create']],
]);

function useCertificateRequest(question: Question): AuthorizationDecision {
  const { verb, subresource } = question.attributes;
  if (subresource !== '')
    return refuse('nodes may not access the status subresource of PodCertificateRequests');
  if (verb === 'create') return allowed;
  if (verb === 'get') return related(question, isNamedIn('certificates.k8s.io', 'podcertificaterequests'));
  if (verb !== 'list' && verb !== 'watch') return refuse(`nodes may not ${verb} podcertificaterequests`);
  return selectsNode(question, 'spec.nodeName')
    ? allowed
    : refuse('can only list/watch podcertificaterequests with nodeName field selector');
}

function selectsNode({ attributes, node }: Question, field: string): boolean {
  return attributes.fieldSelector?.some((requirement) => isEqualTo(requirement, field, node)) ?? false;
}

function isEqualTo({ key, operator, values }: SelectorRequirement, field: string, value: string): boolean {
  return key === field && operator === 'In' && values.length === 1 && values[0] === value;
}
