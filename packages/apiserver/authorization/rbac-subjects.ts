import type { KubeObject } from '@sheaf/api';
import { isJsonObject } from '@sheaf/base';
import type { User } from '../authentication/user.ts';

/** A binding's subject that exists as an index key: `u:<user>` or `g:<group>`. */
export interface BoundSubject {
  readonly key: string;
  /** As reasons write it, e.g. `Group "system:authenticated"`. */
  readonly text: string;
}

/** A role reference of a binding. */
export interface RoleReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export function roleReferenceOf(binding: KubeObject): RoleReference {
  const reference = binding['roleRef'];
  if (!isJsonObject(reference)) return { apiGroup: '', kind: '', name: '' };
  return {
    apiGroup: text(reference['apiGroup']),
    kind: text(reference['kind']),
    name: text(reference['name']),
  };
}

/** The subjects a binding applies to. Service accounts without a namespace belong to the binding's. */
export function subjectsOf(binding: KubeObject): BoundSubject[] {
  const subjects = binding['subjects'];
  if (!Array.isArray(subjects)) return [];
  return subjects
    .filter(isJsonObject)
    .flatMap((subject) => readSubject(subject, binding.metadata.namespace ?? ''));
}

function readSubject(subject: Readonly<Record<string, unknown>>, bindingNamespace: string): BoundSubject[] {
  const name = text(subject['name']);
  switch (subject['kind']) {
    case 'User':
      return [{ key: `u:${name}`, text: `User ${JSON.stringify(name)}` }];
    case 'Group':
      return [{ key: `g:${name}`, text: `Group ${JSON.stringify(name)}` }];
    case 'ServiceAccount':
      return readServiceAccount(name, text(subject['namespace']) || bindingNamespace);
    default:
      return [];
  }
}

function readServiceAccount(name: string, namespace: string): BoundSubject[] {
  if (namespace === '') return [];
  return [
    {
      key: `u:system:serviceaccount:${namespace}:${name}`,
      text: `ServiceAccount ${JSON.stringify(`${name}/${namespace}`)}`,
    },
  ];
}

/** The index keys under which bindings of this user are found. */
export function subjectKeys(user: User): string[] {
  return [`u:${user.name}`, ...user.groups.map((group) => `g:${group}`)];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
