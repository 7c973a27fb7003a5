import type { LogLine } from '@sheaf/ports';

const newline = 10;
const blank = 32;

/** A line of a log as conmon writes it: time, stream, `F` or `P`, content. `undefined` for one that is not whole. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(blank);
  const second = line.indexOf(blank, first + 1);
  const third = line.indexOf(blank, second + 1);
  if (first < 0 || second < 0 || third < 0) return undefined;
  const time = inUtc(line.toString('latin1', 0, first));
  const stream = line.toString('latin1', first + 1, second);
  if (time === undefined || (stream !== 'stdout' && stream !== 'stderr')) return undefined;
  const isPart = line.toString('latin1', second + 1, third).startsWith('P');
  return { time, stream, isPart, content: line.subarray(third + 1) };
}

/** With its nanoseconds, which do not depend on the zone. */
function inUtc(text: string): string | undefined {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const at = Date.parse(text.replace(/\.\d+/, ''));
  if (Number.isNaN(at)) return undefined;
  return `${new Date(at).toISOString().slice(0, 19)}.${fraction.padEnd(9, '0').slice(0, 9)}Z`;
}

/** Cuts what is read into lines; what follows the last line end waits for the next bytes. */
export class LineCutter {
  #rest: Buffer = Buffer.alloc(0);

  cut(bytes: Buffer): readonly Buffer[] {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    const lines: Buffer[] = [];
    let start = 0;
    for (;;) {
      const end = all.indexOf(newline, start);
      if (end < 0) break;
      lines.push(all.subarray(start, end));
      start = end + 1;
    }
    this.#rest = Buffer.from(all.subarray(start));
    return lines;
  }
}
