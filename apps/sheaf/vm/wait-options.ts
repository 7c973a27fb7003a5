import { UsageError } from '../up-options.ts';
import { type Flags, textOf } from './machine-command.ts';

/** Options of commands that wait for something. */
export const waitOptions = {
  options: { 'no-wait': { type: 'boolean' }, timeout: { type: 'string' } },
  help: `  --no-wait            do not wait for the end of it
  --timeout SECONDS    how long to wait; default 600
`,
} as const;

const usualSeconds = 600;

/** @throws UsageError */
export function secondsOf(flags: Flags): number {
  const given = textOf(flags, 'timeout');
  if (given === undefined) return usualSeconds;
  if (/^\d+$/.test(given)) return Number(given);
  throw new UsageError(`--timeout ${given} is no whole number of seconds`);
}
