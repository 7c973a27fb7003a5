import { isJsonObject } from '@sheaf/base';
import type { KubeObject } from '../meta/object.ts';

/** Why something stays when the chart that brought it is taken away. */
export type LeftoverCause =
  /** The data of a StatefulSet. */
  | 'volume'
  /** A definition of a kind, which Helm never takes away. */
  | 'definition'
  /** A namespace that was made for the release. */
  | 'namespace'
  /** Made for a moment of an operation, and no part of the release. */
  | 'hook'
  /** Its chart says so. */
  | 'kept';

/** Something that may stay on purpose when a chart is taken away. Whether it is there is for the reader to see. */
export interface Leftover {
  readonly group: string;
  readonly kind: string;
  /** Without meaning for kinds of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly because: LeftoverCause;
}

/** On an Addon: what may stay of its chart; written before the chart is taken away. */
export const leftoversAnnotation = 'sheaf.dev/leftovers';

/** One text for the same things in whatever order; each of them once. */
export function leftoversText(leftovers: readonly Leftover[]): string {
  const sorted = [...new Map(leftovers.map((each) => [keyOf(each), each]))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return JSON.stringify(
    sorted.map(([, { group, kind, namespace, name, because }]) => ({
      group,
      kind,
      namespace,
      name,
      because,
    })),
  );
}

function keyOf({ group, kind, namespace, name }: Leftover): string {
  return [group, kind, namespace, name].join('/');
}

/** What an Addon says; `undefined` if someone has written what is no such list. */
export function readLeftovers({ metadata }: KubeObject): readonly Leftover[] | undefined {
  try {
    const read: unknown = JSON.parse(metadata.annotations?.[leftoversAnnotation] ?? '[]');
    return Array.isArray(read) && read.every(isLeftover) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isLeftover(value: unknown): value is Leftover {
  if (!isJsonObject(value)) return false;
  return ['group', 'kind', 'namespace', 'name', 'because'].every((field) => typeof value[field] === 'string');
}
