import type { KubeObject } from '@sheaf/api';
import { isJsonObject } from '@sheaf/base';

export const tokenSecretType = 'kubernetes.io/service-account-token';
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

const authorityDescription =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

export function defaultAccount(namespace: string): KubeObject {
  return { metadata: { name: 'default', namespace } };
}

/** The ConfigMap by which programs in the namespace trust the API server. */
export function authorityConfigMap(namespace: string, authority: string): KubeObject {
  return {
    metadata: {
      name: 'kube-root-ca.crt',
      namespace,
      annotations: { 'kubernetes.io/description': authorityDescription },
    },
    data: { 'ca.crt': authority },
  };
}

/** The ConfigMap as it should be; `undefined` if it is. */
export function planAuthority(existing: KubeObject, authority: string): KubeObject | undefined {
  const wanted = authorityConfigMap(existing.metadata.namespace ?? '', authority);
  const data = existing['data'];
  const isRight =
    isJsonObject(data) &&
    data['ca.crt'] === authority &&
    Object.keys(data).length === 1 &&
    existing.metadata.annotations?.['kubernetes.io/description'] === authorityDescription;
  if (isRight) return undefined;
  const annotations = { ...existing.metadata.annotations, ...wanted.metadata.annotations };
  return { ...existing, metadata: { ...existing.metadata, annotations }, data: wanted['data'] };
}

export type TokenStep =
  | { readonly action: 'none' }
  /** Its account is gone, or is another one of the same name. */
  | { readonly action: 'delete' }
  | { readonly action: 'fill' };

/** What to do with a token Secret, given the account that it names. */
export function planToken(secret: KubeObject, account: KubeObject | undefined, authority: string): TokenStep {
  const { annotations = {}, deletionTimestamp } = secret.metadata;
  if (deletionTimestamp !== undefined || !annotations[accountNameAnnotation]) return { action: 'none' };
  const uid = annotations[accountUidAnnotation];
  if (!account || (uid && uid !== account.metadata.uid)) return { action: 'delete' };
  return { action: uid !== undefined && isFilled(secret, authority) ? 'none' : 'fill' };
}

function isFilled(secret: KubeObject, authority: string): boolean {
  const data = isJsonObject(secret['data']) ? secret['data'] : {};
  return (
    Boolean(data['token']) &&
    data['ca.crt'] === encode(authority) &&
    data['namespace'] === encode(secret.metadata.namespace ?? '')
  );
}

/** The Secret with what belongs into it; a token that is there stays. */
export function filledSecret(
  secret: KubeObject,
  account: KubeObject,
  parts: { readonly token: string; readonly authority: string },
): KubeObject {
  const data = isJsonObject(secret['data']) ? secret['data'] : {};
  const annotations = {
    ...secret.metadata.annotations,
    [accountUidAnnotation]: account.metadata.uid ?? '',
  };
  return {
    ...secret,
    metadata: { ...secret.metadata, annotations },
    data: {
      ...data,
      'ca.crt': encode(parts.authority),
      namespace: encode(secret.metadata.namespace ?? ''),
      token: data['token'] || encode(parts.token),
    },
  };
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
