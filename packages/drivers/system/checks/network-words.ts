import type { CheckTarget } from '@sheaf/ports';

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'read: connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ENOTFOUND: 'no such host',
  ETIMEDOUT: 'connect: connection timed out',
};

/** What failed, in the words that users of Kubernetes know. */
export function wordsOf(error: unknown): string {
  // A request that waited for its connection fails with what became of that.
  if (error instanceof Error && error.cause instanceof Error) return wordsOf(error.cause);
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (message === 'socket hang up') return 'EOF';
  return words[code] ?? (message || code);
}

/** Host and port, as one word. */
export function addressOf({ host, port }: CheckTarget): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
