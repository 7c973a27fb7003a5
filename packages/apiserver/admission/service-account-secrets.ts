import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { mirrorPodAnnotation, podReferences } from '../authorization/pod-references.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import type { AdmissionRequest } from './plugin.ts';
import { refusal } from './refusal.ts';

export function isMirrorPod(pod: KubeObject): boolean {
  return (
    pod.metadata.annotations !== undefined && Object.hasOwn(pod.metadata.annotations, mirrorPodAnnotation)
  );
}

/** A mirror pod shows what a node runs by itself: it has no rights in the API. @throws StatusError 403 */
export function checkMirrorPod(request: AdmissionRequest, pod: KubeObject): void {
  const spec = objectAt(pod, 'spec');
  if (textAt(spec, 'serviceAccountName') !== '')
    throw refusal(request, 'a mirror pod may not reference service accounts');
  if (podReferences(pod).secrets.size > 0) throw refusal(request, 'a mirror pod may not reference secrets');
  if (objectsAt(spec, 'volumes').some(hasTokenProjection))
    throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

function hasTokenProjection(volume: JsonObject): boolean {
  return objectsAt(objectAt(volume, 'projected'), 'sources').some(
    (source) => source['serviceAccountToken'] !== undefined,
  );
}

/** What is wrong with the Secrets of a pod whose account may use only those that it lists. */
export function checkMountableSecrets(
  spec: JsonObject,
  account: KubeObject,
  isNew: boolean,
): string | undefined {
  const allowed = namesIn(account, 'secrets');
  const name = account.metadata.name ?? '';
  if (!isNew) return containerFault(spec, 'ephemeralContainers', { allowed, name });
  return (
    volumeFault(spec, { allowed, name }) ??
    containerFault(spec, 'initContainers', { allowed, name }) ??
    containerFault(spec, 'containers', { allowed, name }) ??
    pullFault(spec, { allowed: namesIn(account, 'imagePullSecrets'), name })
  );
}

interface Limit {
  readonly allowed: ReadonlySet<string>;
  /** Of the account. */
  readonly name: string;
}

function namesIn(account: KubeObject, field: string): ReadonlySet<string> {
  return new Set(objectsAt(account, field).map((reference) => textAt(reference, 'name')));
}

function volumeFault(spec: JsonObject, { allowed, name }: Limit): string | undefined {
  for (const { secret } of objectsAt(spec, 'volumes')) {
    const secretName = textAt(secret, 'secretName');
    if (secret !== undefined && !allowed.has(secretName))
      return `volume with secret.secretName="${secretName}" is not allowed because service account ${name} does not reference that secret`;
  }
  return undefined;
}

const containerWords: Readonly<Record<string, string>> = {
  initContainers: 'init container',
  containers: 'container',
  ephemeralContainers: 'ephemeral container',
};

function containerFault(spec: JsonObject, list: string, limit: Limit): string | undefined {
  for (const container of objectsAt(spec, list)) {
    const source = findForbiddenSource(container, limit.allowed, list !== 'ephemeralContainers');
    if (source)
      return `${containerWords[list]} ${textAt(container, 'name')} with ${source} is not allowed because service account ${limit.name} does not reference that secret`;
  }
  return undefined;
}

function findForbiddenSource(
  container: JsonObject,
  allowed: ReadonlySet<string>,
  withEnvFrom: boolean,
): string | undefined {
  for (const variable of objectsAt(container, 'env')) {
    const { secretKeyRef } = objectAt(variable, 'valueFrom');
    const secret = textAt(secretKeyRef, 'name');
    if (secretKeyRef !== undefined && !allowed.has(secret))
      return `envVar ${textAt(variable, 'name')} referencing secret.secretName="${secret}"`;
  }
  if (!withEnvFrom) return undefined;
  for (const { secretRef } of objectsAt(container, 'envFrom')) {
    const secret = textAt(secretRef, 'name');
    if (secretRef !== undefined && !allowed.has(secret))
      return `envFrom referencing secret.secretName="${secret}"`;
  }
  return undefined;
}

function pullFault(spec: JsonObject, { allowed, name }: Limit): string | undefined {
  for (const [index, reference] of objectsAt(spec, 'imagePullSecrets').entries()) {
    const secret = textAt(reference, 'name');
    if (!allowed.has(secret))
      return `imagePullSecrets[${index}].name="${secret}" is not allowed because service account ${name} does not reference that imagePullSecret`;
  }
  return undefined;
}
