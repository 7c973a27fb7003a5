import { asJson, type KubeObject } from '@sheaf/api';
import { jsonEqual, type StatusError, toError } from '@sheaf/base';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/plugin.ts';
import { readSigningRequest } from '../certificates/signing-request.ts';
import type { LiveViews } from '../storage/live-view.ts';
import type { Authorizer } from './attributes.ts';
import { forbiddenObject } from './forbidden.ts';
import { nodeNameOf } from './node-authorizer.ts';
import { checkNodeWrite } from './node-restriction-nodes.ts';
import { checkPodEviction, checkPodStatus, checkPodWrite } from './node-restriction-pods.ts';
import { checkCertificateRequest, checkTokenRequest } from './node-restriction-tokens.ts';
import { objectAt, textAt } from './object-field.ts';

export interface NodeRestrictionOptions {
  readonly views: LiveViews;
  /** Asked whether a node may request tokens for audiences that its pods do not mention. */
  readonly authorizer: Authorizer;
}

/** One write of a node, and how to refuse it. */
export interface NodeWrite {
  readonly request: AdmissionRequest;
  readonly node: string;
  readonly views: LiveViews;
  readonly authorizer: Authorizer;
  /** The 403 with that detail. */
  refuse(detail: string): StatusError;
}

type Check = (write: NodeWrite) => Promise<void> | void;

/**
 * Limits what nodes write to their own objects: what the authorizer cannot see because it does not know contents. It has
 * nothing to say about other users.
 */
export function nodeRestriction(options: NodeRestrictionOptions): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    handles: (request) =>
      request.operation !== 'CONNECT' &&
      nodeNameOf(request.user) !== undefined &&
      checks.has(resourceOf(request)),
    mutate(request) {
      const node = nodeNameOf(request.user) ?? '';
      const refuse = (detail: string) => refusal(request, detail);
      if (node === '')
        throw refuse(`could not determine node from user ${JSON.stringify(request.user.name)}`);
      return checks.get(resourceOf(request))?.({ request, node, refuse, ...options });
    },
  };
}

function resourceOf(request: AdmissionRequest): string {
  return `${request.resource.group}/${request.resource.resource}`;
}

function refusal(request: AdmissionRequest, detail: string): StatusError {
  const { name: objectName, generateName } = request.object?.metadata ?? {};
  const name = request.name || objectName || generateName || 'Unknown';
  return forbiddenObject({ ...request.resource, name }, detail);
}

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['/pods', checkPod],
  ['/nodes', checkNodeWrite],
  ['/persistentvolumeclaims', checkClaimStatus],
  ['/serviceaccounts', checkTokenRequest],
  ['coordination.k8s.io/leases', checkLease],
  ['storage.k8s.io/csinodes', checkCsiNode],
  ['resource.k8s.io/resourceslices', checkResourceSlice],
  ['certificates.k8s.io/certificatesigningrequests', checkSigningRequest],
  ['certificates.k8s.io/podcertificaterequests', checkCertificateRequest],
]);

function checkPod(write: NodeWrite): void {
  const { subresource } = write.request;
  if (subresource === '') return checkPodWrite(write);
  if (subresource === 'status') return checkPodStatus(write);
  if (subresource === 'eviction') return checkPodEviction(write);
  throw write.refuse(
    `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`,
  );
}

function checkClaimStatus({ request, node, refuse }: NodeWrite): void {
  if (request.subresource !== 'status') throw refuse('may only update PVC status');
  const { operation, object, oldObject } = request;
  if (operation !== 'UPDATE' || !object || !oldObject)
    throw refuse(`unexpected operation ${JSON.stringify(operation)}`);
  if (jsonEqual(asJson(withoutReported(object)), asJson(withoutReported(oldObject)))) return;
  throw refuse(
    `node ${JSON.stringify(node)} is not allowed to update fields other than status.quantity and status.conditions`,
  );
}

/** What is left of a claim without the fields that its node reports. */
function withoutReported(claim: KubeObject): KubeObject {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = claim.metadata;
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _allocated,
    allocatedResourceStatuses: _statuses,
    ...status
  } = objectAt(claim, 'status');
  return { ...claim, metadata, status };
}

function checkLease(write: NodeWrite): void {
  if (write.request.namespace !== 'kube-node-lease') {
    throw write.refuse('can only access leases in the "kube-node-lease" system namespace');
  }
  if (nameOf(write) !== write.node) {
    throw write.refuse('can only access node lease with the same name as the requesting node');
  }
}

function checkCsiNode(write: NodeWrite): void {
  if (nameOf(write) === write.node) return;
  throw write.refuse('can only access CSINode with the same name as the requesting node');
}

function nameOf({ request }: NodeWrite): string {
  return request.operation === 'CREATE' ? (request.object?.metadata.name ?? '') : request.name;
}

function checkResourceSlice({ request, node, refuse }: NodeWrite): void {
  if (request.operation === 'UPDATE') return;
  const slice = request.operation === 'CREATE' ? request.object : request.oldObject;
  if (textAt(objectAt(slice, 'spec'), 'nodeName') === node) return;
  throw refuse(
    `can only ${request.operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
  );
}

const nodeSigners = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

function checkSigningRequest({ request, node, refuse }: NodeWrite): void {
  if (request.operation !== 'CREATE') return;
  const spec = objectAt(request.object, 'spec');
  if (!nodeSigners.includes(textAt(spec, 'signerName'))) return;
  const commonName = `system:node:${node}`;
  if (readCommonName(textAt(spec, 'request'), refuse) !== commonName) {
    throw refuse(`can only create a node CSR with CN=${commonName}`);
  }
}

function readCommonName(encoded: string, refuse: (detail: string) => StatusError): string {
  try {
    return readSigningRequest(Buffer.from(encoded, 'base64').toString('latin1')).subject.commonName;
  } catch (error) {
    throw refuse(`unable to parse csr: ${toError(error).message}`);
  }
}
