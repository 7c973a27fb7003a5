import { type Clock, sleep } from '@sheaf/base';
import type { LogLine, LogSelection } from '@sheaf/ports';
import { type LogFile, logFiles, openPart, tailOf } from './log-files.ts';
import { LineCutter, parseLogLine } from './log-lines.ts';

export interface LogReading {
  readonly directory: string;
  readonly selection: LogSelection;
  /** Instead of the last lines of the selection. */
  readonly from?: LogPlace;
  readonly clock: Clock;
  /** Nothing is written any more. */
  readonly hasEnded: () => Promise<boolean>;
}

/** Before what is written next. */
export interface LogPlace {
  readonly file: LogFile | undefined;
  readonly offset: number;
}

const blockBytes = 64 * 1024;
const pollMs = 100;

/** What a container has printed; parts that are put aside while they are read are not missed. */
export async function* readLog(reading: LogReading, signal: AbortSignal): AsyncGenerator<LogLine> {
  const since = reading.selection.since ?? 0;
  for await (const line of lines(reading, signal)) {
    const parsed = parseLogLine(line);
    if (parsed && Date.parse(parsed.time) >= since) yield parsed;
  }
}

async function* lines(reading: LogReading, signal: AbortSignal): AsyncGenerator<Buffer> {
  const { directory, selection, from } = reading;
  const isFollowed = selection.isFollowed === true;
  const cutter = new LineCutter();
  let { file: current, offset } = from ?? (await logPlace(directory, selection.tailLines));
  while (!signal.aborted) {
    const isLast = !isFollowed || (await reading.hasEnded());
    // Once there is another one, nothing is written to this one any more.
    const next = await nextFile(directory, current);
    for await (const bytes of bytesOf(current, offset)) {
      offset += bytes.length;
      yield* cutter.cut(bytes);
      if (signal.aborted) return;
    }
    if (next) {
      current = next;
      offset = 0;
    } else if (isLast) return;
    else await sleep(reading.clock, pollMs, signal).catch(() => undefined);
  }
}

/** Where the last lines begin; where all begin, if no number is given. */
export async function logPlace(directory: string, tailLines: number | undefined): Promise<LogPlace> {
  const files = await logFiles(directory);
  const { index, offset } =
    tailLines === undefined ? { index: 0, offset: 0 } : await tailOf(files, tailLines);
  return { file: files[index], offset };
}

/** The part after the one with this inode; the first one if that has been dropped. */
async function nextFile(directory: string, current: LogFile | undefined): Promise<LogFile | undefined> {
  const files = await logFiles(directory);
  if (!current) return files[0];
  const index = files.findIndex(({ inode }) => inode === current.inode);
  return files[index + 1];
}

async function* bytesOf(file: LogFile | undefined, from: number): AsyncGenerator<Buffer> {
  const handle = file && (await openPart(file));
  if (!handle) return;
  try {
    for (let offset = from; ; ) {
      const block = Buffer.alloc(blockBytes);
      const { bytesRead } = await handle.read(block, 0, blockBytes, offset);
      if (bytesRead === 0) return;
      offset += bytesRead;
      yield block.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
