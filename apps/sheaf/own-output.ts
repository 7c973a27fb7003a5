import type { Writable } from 'node:stream';

/**
 * Writes what a server has to say. Where that cannot be taken (its log is on a disk that is full, whoever read it has gone), it is
 * lost: what the server serves goes on.
 */
export function tell(stream: Writable, text: string): void {
  if (stream.listenerCount('error', onError) === 0) stream.on('error', onError);
  try {
    stream.write(text);
  } catch {
    // Files are written to at once, and throw.
  }
}

function onError(): void {
  // There is nobody left to be told.
}
