import type { KubeObject } from '@sheaf/api';
import type { User } from '../authentication/user.ts';
import type { AuthorizationAttributes } from './attributes.ts';
import { rbacGroup } from './rbac-index.ts';

const apiVersion = `${rbacGroup}/v1`;

/** A ClusterRole, or a Role with a namespace. */
export function role(name: string, rules: unknown[], namespace?: string): KubeObject {
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  return { apiVersion, kind: namespace === undefined ? 'ClusterRole' : 'Role', metadata, rules };
}

export interface BindingTarget {
  readonly to: { readonly kind: string; readonly name: string; readonly namespace?: string };
  /** `Kind/name`. */
  readonly role: string;
  readonly namespace?: string;
}

export function binding(name: string, target: BindingTarget): KubeObject {
  const [kind, roleName] = target.role.split('/');
  const metadata = { name, ...(target.namespace !== undefined && { namespace: target.namespace }) };
  return {
    apiVersion,
    kind: target.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata,
    roleRef: { apiGroup: rbacGroup, kind, name: roleName },
    subjects: [target.to],
  };
}

/** `verb [group:]resource[/subresource] [namespace] [name]` or `verb /path`; `-` is an empty namespace. */
export function ask(user: User, text: string): AuthorizationAttributes {
  const [verb = '', what = '', namespace, name] = text.split(' ');
  if (what.startsWith('/')) return { isResource: false, user, verb, path: what };
  const colon = what.indexOf(':');
  const group = what.slice(0, Math.max(0, colon));
  const [resource = '', subresource = ''] = what.slice(colon + 1).split('/');
  const place = { namespace: namespace === '-' ? '' : (namespace ?? ''), name: name ?? '' };
  return { isResource: true, user, verb, group, version: 'v1', resource, subresource, ...place };
}
