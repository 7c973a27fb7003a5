import type { User } from './user.ts';

const prefix = 'system:serviceaccount:';
const namespacePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export function serviceAccountUserName({ namespace, name }: ServiceAccountName): string {
  return `${prefix}${namespace}:${name}`;
}

/** The groups every service account of a namespace is in. */
export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** Reads `system:serviceaccount:<namespace>:<name>`; `undefined` for all other user names. */
export function parseServiceAccountUserName(userName: string): ServiceAccountName | undefined {
  if (!userName.startsWith(prefix) || userName.length > 400) return undefined;
  const [namespace = '', name = '', ...rest] = userName.slice(prefix.length).split(':');
  if (rest.length > 0 || !namespacePattern.test(namespace)) return undefined;
  return name.length <= 253 && namePattern.test(name) ? { namespace, name } : undefined;
}

export interface ServiceAccountIdentity extends ServiceAccountName {
  readonly uid: string;
  readonly tokenId?: string;
  readonly pod?: { readonly name: string; readonly uid: string };
  readonly node?: { readonly name: string; readonly uid: string };
}

/** The user a service-account token stands for. */
export function serviceAccountUser(identity: ServiceAccountIdentity): User {
  const extra: Record<string, readonly string[]> = {};
  const { pod, node, tokenId } = identity;
  if (pod) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (tokenId) extra['authentication.kubernetes.io/credential-id'] = [`JTI=${tokenId}`];
  if (node) {
    extra['authentication.kubernetes.io/node-name'] = [node.name];
    if (node.uid) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  }
  return {
    name: serviceAccountUserName(identity),
    uid: identity.uid,
    groups: serviceAccountGroups(identity.namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
