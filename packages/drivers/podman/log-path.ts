import { join } from 'node:path';

/** The file that is written to, and its parts put aside: `log.1` is the youngest of them. */
export function logPath(directory: string, part: number): string {
  return join(directory, part === 0 ? 'log' : `log.${part}`);
}
