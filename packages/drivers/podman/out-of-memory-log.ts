import { closeSync, constants, openSync, readSync } from 'node:fs';

const longestRecord = 8192;

/**
 * Whether the kernel says that it ended a process of this container for want of memory. What watches over a container misses that
 * when the process was its first one. The kernel keeps only the last of what it said; without it nothing is claimed.
 */
export function hasRunOutOfMemory(engineId: string): boolean {
  return kernelRecords().some(
    (record) => record.includes('oom-kill:') && record.includes(`libpod-${engineId}`),
  );
}

function kernelRecords(): readonly string[] {
  let log: number;
  try {
    log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return [];
  }
  try {
    const records: string[] = [];
    const record = Buffer.alloc(longestRecord);
    for (;;) {
      const bytes = nextRecord(log, record);
      if (bytes === undefined) return records;
      records.push(record.toString('utf8', 0, bytes));
    }
  } finally {
    closeSync(log);
  }
}

/** Its length; `undefined` after the last one. */
function nextRecord(log: number, record: Buffer): number | undefined {
  for (;;) {
    try {
      return readSync(log, record);
    } catch (error) {
      // EPIPE: the next one has been overwritten meanwhile; what follows it can be read.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return undefined;
    }
  }
}
