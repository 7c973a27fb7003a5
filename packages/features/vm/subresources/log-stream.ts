import type { ByteStream } from '@sheaf/base';

/**
 * What has been printed, and what is printed from now on: nothing is left out, because the stream is open before the log is read,
 * and what came over the stream meanwhile is not given a second time.
 */
export async function* logWithStream(
  readLog: (signal: AbortSignal) => Promise<Uint8Array>,
  stream: ByteStream,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const end = (): void => stream.dispose();
  signal.addEventListener('abort', end, { once: true });
  try {
    const chunks = stream.readable[Symbol.asyncIterator]();
    const reading = readLog(signal);
    const { early, next } = await gather(chunks, reading);
    const log = await reading;
    yield log;
    const meanwhile = Buffer.concat(early);
    yield meanwhile.subarray(overlapOf(log.subarray(-meanwhile.length), meanwhile));
    for (let chunk = await next; chunk.done !== true; chunk = await chunks.next()) yield chunk.value;
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** What comes before `until` is settled, and the promise of what comes next. */
async function gather(
  chunks: AsyncIterator<Uint8Array>,
  until: Promise<unknown>,
): Promise<{ readonly early: readonly Uint8Array[]; readonly next: Promise<IteratorResult<Uint8Array>> }> {
  const early: Uint8Array[] = [];
  const settled = until.then(() => undefined);
  let next = chunks.next();
  // A stream that breaks is told where it is read.
  next.catch(() => undefined);
  for (;;) {
    const chunk = await Promise.race([settled, next]);
    if (chunk === undefined || chunk.done === true) return { early, next };
    early.push(chunk.value);
    next = chunks.next();
    next.catch(() => undefined);
  }
}

/** How many bytes at the end of the one are those at the beginning of the other; the most there can be. */
export function overlapOf(before: Uint8Array, after: Uint8Array): number {
  for (let length = Math.min(before.length, after.length); length > 0; length--)
    if (Buffer.compare(before.subarray(before.length - length), after.subarray(0, length)) === 0)
      return length;
  return 0;
}
