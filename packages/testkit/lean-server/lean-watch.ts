import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { KeptChange, KeptKind, KeptObjects } from './kept-objects.ts';

export interface KeptWatch {
  /** The revision after which changes are told. */
  readonly from: number;
  readonly isMeant: (object: KubeObject) => boolean;
  readonly shown: (object: KubeObject) => KubeObject;
  readonly tell: (event: unknown) => void;
}

/** Tells the changes of a resource since a revision, until the returned function is called. */
export function watchKept(
  kept: KeptObjects,
  kind: KeptKind,
  { from, isMeant, shown, tell }: KeptWatch,
): () => void {
  if (from < kept.firstRevision) {
    const message = `too old resource version: ${from} (${kept.firstRevision})`;
    tell({ type: 'ERROR', object: new StatusError({ reason: 'Expired', message }).toStatus() });
    return () => undefined;
  }
  const take = ({ type, object }: KeptChange): void => {
    if (isMeant(object)) tell({ type, object: shown(object) });
  };
  for (const change of kind.changes) if (change.revision > from) take(change);
  const watching = kind.watch(take);
  return () => watching.dispose();
}
