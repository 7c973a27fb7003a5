import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import type { NodeWrite } from './node-restriction.ts';
import { getPod, nodeOf, notFound } from './node-restriction-pods.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import { mirrorPodAnnotation } from './pod-references.ts';
import { stringsOf } from './policy-rule.ts';

/** A node gets tokens only for pods that run on it, for audiences those pods mention. */
export async function checkTokenRequest(write: NodeWrite): Promise<void> {
  const { request, node, refuse } = write;
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const reference = objectAt(objectAt(request.object, 'spec'), 'boundObjectRef');
  const name = textAt(reference, 'name');
  if (textAt(reference, 'apiVersion') !== 'v1' || textAt(reference, 'kind') !== 'Pod' || name === '') {
    throw refuse('node requested token not bound to a pod');
  }
  const uid = textAt(reference, 'uid');
  if (uid === '') throw refuse('node requested token with a pod binding without a uid');
  const pod = getPod(write, name);
  if (uid !== pod.metadata.uid) {
    throw refuse(
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (nodeOf(pod) !== node) throw refuse('node requested token bound to a pod scheduled on a different node');
  await checkAudience(write, pod);
}

async function checkAudience(write: NodeWrite, pod: KubeObject): Promise<void> {
  const { request, refuse } = write;
  const audiences = stringsOf(objectAt(request.object, 'spec')['audiences']);
  if (audiences.length > 1) throw refuse('node may only request 0 or 1 audiences');
  const [audience = ''] = audiences;
  if (
    objectsAt(objectAt(pod, 'spec'), 'volumes').some((volume) => mentions(write, volume, { pod, audience }))
  )
    return;
  const { user, namespace, name } = request;
  const decision = await write.authorizer.authorize(
    {
      isResource: true,
      user,
      verb: 'request-serviceaccounts-token-audience',
      group: '',
      version: 'v1',
      resource: audience,
      subresource: '',
      namespace,
      name,
    },
    request.signal,
  );
  if (decision.decision === 'allow') return;
  throw refuse(
    `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
  );
}

interface Wanted {
  readonly pod: KubeObject;
  readonly audience: string;
}

function mentions(write: NodeWrite, volume: JsonObject, wanted: Wanted): boolean {
  const isProjected = objectsAt(objectAt(volume, 'projected'), 'sources').some((source) => {
    const token = source['serviceAccountToken'];
    return isJsonObject(token) && textAt(token, 'audience') === wanted.audience;
  });
  if (isProjected) return true;
  const driver = driverOf(write, volume, wanted.pod);
  if (driver === '') return false;
  const object = write.views.of('storage.k8s.io', 'csidrivers').get('', driver);
  return objectsAt(objectAt(object, 'spec'), 'tokenRequests').some(
    (request) => textAt(request, 'audience') === wanted.audience,
  );
}

/** The CSI driver behind a volume: named in it, or by the persistent volume of its claim. */
function driverOf({ views }: NodeWrite, volume: JsonObject, pod: KubeObject): string {
  const inline = textAt(objectAt(volume, 'csi'), 'driver');
  if (inline !== '') return inline;
  const named = textAt(objectAt(volume, 'persistentVolumeClaim'), 'claimName');
  const claimName = 'ephemeral' in volume ? `${pod.metadata.name ?? ''}-${textAt(volume, 'name')}` : named;
  if (claimName === '') return '';
  const claim = views.of('', 'persistentvolumeclaims').get(pod.metadata.namespace ?? '', claimName);
  const persistent = views.of('', 'persistentvolumes').get('', textAt(objectAt(claim, 'spec'), 'volumeName'));
  return textAt(objectAt(objectAt(persistent, 'spec'), 'csi'), 'driver');
}

/** A pod's certificate is asked for by the node the pod runs on, for the pod's own account. */
export function checkCertificateRequest(write: NodeWrite): void {
  const { request, node, refuse } = write;
  if (request.operation !== 'CREATE') throw refuse(`unexpected operation ${request.operation}`);
  if (request.subresource !== '') throw refuse(`unexpected subresource ${request.subresource}`);
  const spec = objectAt(request.object, 'spec');
  const nodeName = textAt(spec, 'nodeName');
  if (nodeName !== node) {
    throw refuse(
      `PodCertificateRequest.Spec.NodeName=${JSON.stringify(nodeName)}, which is not the requesting node ${JSON.stringify(node)}`,
    );
  }
  const podName = textAt(spec, 'podName');
  const pod = getPod(write, podName);
  const title = JSON.stringify(`${request.namespace}/${podName}`);
  if (nodeOf(pod) !== node)
    throw refuse(
      `pod ${title} is not running on node ${JSON.stringify(node)} named in the PodCertificateRequest`,
    );
  if (pod.metadata.annotations?.[mirrorPodAnnotation] !== undefined)
    throw refuse(`pod ${title} is a mirror pod`);
  const account = textAt(spec, 'serviceAccountName');
  const podAccount = textAt(objectAt(pod, 'spec'), 'serviceAccountName');
  if (account !== podAccount) {
    throw refuse(
      `PodCertificateRequest for pod ${title} contains serviceAccountName (${JSON.stringify(account)}) that differs from running pod (${JSON.stringify(podAccount)})`,
    );
  }
  checkUids(write, spec, pod);
}

/** The objects named must be the ones that exist now; another uid may be a matter of time, so the answer is a conflict. */
function checkUids({ request, views, node }: NodeWrite, spec: JsonObject, pod: KubeObject): void {
  const account = textAt(spec, 'serviceAccountName');
  const named: readonly (readonly [string, string, KubeObject | undefined])[] = [
    ['nodes', node, views.of('', 'nodes').get('', node)],
    ['pods', pod.metadata.name ?? '', pod],
    ['serviceaccounts', account, views.of('', 'serviceaccounts').get(request.namespace, account)],
  ];
  const fields = ['nodeUID', 'podUID', 'serviceAccountUID'];
  for (const [index, [resource, name, object]] of named.entries()) {
    if (!object) throw notFound(resource, name);
    const uid = textAt(spec, fields[index] ?? '');
    if (uid === object.metadata.uid) continue;
    throw new StatusError({
      reason: 'Conflict',
      message: `PodCertificateRequest names ${resource} ${JSON.stringify(name)} with UID ${JSON.stringify(uid)}, the present one has ${JSON.stringify(object.metadata.uid)}`,
      details: { name, kind: resource },
    });
  }
}
