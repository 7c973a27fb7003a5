import type { LogQuery } from '@sheaf/api/workload/index';
import type { LogLine } from '@sheaf/ports';

const batchBytes = 64 * 1024;
const newline = Buffer.from('\n');

type Shape = Pick<LogQuery, 'hasTimestamps' | 'limitBytes' | 'stream' | 'isFollowed'>;

/** What clients of `pods/log` get. Of a log that is followed each line by itself, else several at a time. */
export async function* logText(lines: AsyncIterable<LogLine>, shape: Shape): AsyncGenerator<Uint8Array> {
  const most = shape.isFollowed ? 1 : batchBytes;
  let batch: Uint8Array[] = [];
  let gathered = 0;
  for await (const bytes of limited(formatted(lines, shape), shape.limitBytes)) {
    batch.push(bytes);
    gathered += bytes.length;
    if (gathered < most) continue;
    yield Buffer.concat(batch);
    batch = [];
    gathered = 0;
  }
  if (gathered > 0) yield Buffer.concat(batch);
}

async function* formatted(
  lines: AsyncIterable<LogLine>,
  { hasTimestamps, stream }: Shape,
): AsyncGenerator<Uint8Array> {
  let isBegin = true;
  for await (const line of lines) {
    if (stream && line.stream !== stream) continue;
    const parts = [line.content, ...(line.isPart ? [] : [newline])];
    yield Buffer.concat(hasTimestamps && isBegin ? [Buffer.from(`${line.time} `), ...parts] : parts);
    isBegin = !line.isPart;
  }
}

/** Not a byte more, though a line be cut. */
async function* limited(
  parts: AsyncIterable<Uint8Array>,
  limitBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  let left = limitBytes;
  for await (const bytes of parts) {
    yield bytes.subarray(0, left);
    left -= bytes.length;
    if (left <= 0) return;
  }
}
