import type { JsonObject, Random } from '@sheaf/base';
import { generateName } from '../verbs/new-metadata.ts';
import { ensureList, objectsAt, textAt } from './object-field.ts';

const volumePrefix = 'kube-api-access-';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
/** A token lasts an hour and a little: kubelets renew it earlier, and its use beyond the hour is warned of. */
const expirationSeconds = 3607;

/** Lets every container of a pod read a token, the authority's certificate and its namespace at the usual path. */
export function mountToken(spec: JsonObject, random: Random): void {
  const known = objectsAt(spec, 'volumes').find((volume) => textAt(volume, 'name').startsWith(volumePrefix));
  const name = known ? textAt(known, 'name') : generateName(volumePrefix, random);
  let isNeeded = false;
  for (const list of ['initContainers', 'containers']) {
    for (const container of objectsAt(spec, list)) {
      if (objectsAt(container, 'volumeMounts').some((mount) => mount['mountPath'] === mountPath)) continue;
      ensureList(container, 'volumeMounts').push({ name, readOnly: true, mountPath });
      isNeeded = true;
    }
  }
  if (!known && isNeeded) ensureList(spec, 'volumes').push({ name, projected: tokenSource() });
}

function tokenSource(): JsonObject {
  const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
  return {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef }] } },
    ],
  };
}
