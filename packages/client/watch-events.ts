import type { KubeObject } from '@sheaf/api';
import { StatusError, type StatusReason } from '@sheaf/base';
import type { ClientResponse } from './transport.ts';

export interface WatchEvent<T extends KubeObject = KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** Reads the events of a watch; an ERROR event ends it as a StatusError. */
export async function* watchEvents<T extends KubeObject>(
  open: () => Promise<ClientResponse>,
): AsyncGenerator<WatchEvent<T>> {
  const response = await open();
  if (response.values) {
    for await (const value of response.values()) yield checked(value as ReceivedEvent<T>);
    return;
  }
  for await (const line of response.lines()) yield checked(JSON.parse(line) as ReceivedEvent<T>);
}

interface ReceivedEvent<T> {
  readonly type: WatchEvent['type'] | 'ERROR';
  readonly object: T;
}

/** @throws StatusError what an ERROR event says */
function checked<T extends KubeObject>({ type, object }: ReceivedEvent<T>): WatchEvent<T> {
  if (type === 'ERROR') throw toError(object);
  return { type, object };
}

function toError(status: KubeObject): StatusError {
  const {
    reason = '',
    message = '',
    code = 500,
  } = status as { reason?: string; message?: string; code?: number };
  return new StatusError({ reason: reason as StatusReason, message, code });
}
