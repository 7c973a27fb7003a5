import type { ObjectMeta } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { objectAt, objectsAt, textAt } from './object-field.ts';

/** A pod, or the template of one, as the checks see it. */
export interface SecuritySubject {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
  readonly spec: JsonObject;
  /** Of the policy. */
  readonly minor: number;
}

/** `undefined`: nothing is wrong. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type SecurityCheck = (subject: SecuritySubject) => Violation | undefined;

/** All containers, those that only start the pod first. */
export function containersOf(spec: JsonObject): readonly JsonObject[] {
  return [
    ...objectsAt(spec, 'initContainers'),
    ...objectsAt(spec, 'containers'),
    ...objectsAt(spec, 'ephemeralContainers'),
  ];
}

export function contextOf(owner: JsonObject): JsonObject {
  return objectAt(owner, 'securityContext');
}

export function quoted(items: Iterable<string>): string {
  return [...items].map((item) => JSON.stringify(item)).join(', ');
}

export function sorted(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}

export function plural(one: string, many: string, count: number): string {
  return count === 1 ? one : many;
}

/** `container "a"`, `containers "a", "b"` */
export function containersText(containers: readonly JsonObject[]): string {
  const names = containers.map((container) => textAt(container, 'name'));
  return `${plural('container', 'containers', names.length)} ${quoted(names)}`;
}

/** `pod and container "a"` */
export function settersText(isPod: boolean, containers: readonly JsonObject[]): string {
  const parts = isPod ? ['pod'] : [];
  if (containers.length > 0) parts.push(containersText(containers));
  return parts.join(' and ');
}

export function isWindows({ spec, minor }: SecuritySubject): boolean {
  return minor >= 25 && textAt(objectAt(spec, 'os'), 'name') === 'windows';
}

/** From policy 1.35 on, users of a namespace of their own are not those of the node. */
export function hasOwnUsers({ spec, minor }: SecuritySubject): boolean {
  return minor >= 35 && spec['hostUsers'] === false;
}
