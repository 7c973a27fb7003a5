import { StatusError } from '@sheaf/base';
import type { Place } from '../storage/resource-store.ts';

/** Where the next page of a list begins and which state it shows. */
export interface ContinueToken {
  /** -1: go on with the newest state, after the snapshot has expired. */
  readonly revision: number;
  readonly after: Place;
}

/** Opaque to clients; the same form as upstream's: unpadded base64url of JSON. */
export function encodeContinueToken(token: ContinueToken): string {
  const { namespace, name } = token.after;
  const start = namespace === '' ? `${name}\u0000` : `${namespace}/${name}\u0000`;
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start })).toString(
    'base64url',
  );
}

/** @throws StatusError 400 */
export function decodeContinueToken(text: string): ContinueToken {
  const fields = parseFields(text);
  const { v, rv, start } = fields;
  const isWellFormed =
    v === 'meta.k8s.io/v1' && typeof rv === 'number' && Number.isSafeInteger(rv) && typeof start === 'string';
  if (!isWellFormed || start.length > 1024 || !start.endsWith('\u0000')) throw invalidToken();
  const slash = start.indexOf('/');
  const name = start.slice(slash + 1, -1);
  return { revision: rv, after: { namespace: slash < 0 ? '' : start.slice(0, slash), name } };
}

function parseFields(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch (error) {
    throw invalidToken(error);
  }
  throw invalidToken();
}

function invalidToken(cause?: unknown): StatusError {
  return new StatusError({
    reason: 'BadRequest',
    message:
      'invalid continue token: continue key is not valid: list again without continue, and pass on the token of the answer unchanged',
    cause,
  });
}

/** The snapshot of a token is gone: 410 with a token to go on without it. */
export function expiredToken(after: Place): StatusError {
  return new StatusError({
    reason: 'Expired',
    message:
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results.',
    metadata: { continue: encodeContinueToken({ revision: -1, after }) },
  });
}
