import { spawn } from 'node:child_process';
import { findProgram, runProgram } from '../qemu/run-program.ts';
import type { SavedTables } from './rule-text.ts';

export interface RulePrograms {
  readonly save: string;
  readonly restore: string;
}

/** What the kernel, or the program before it, said to some rules. */
export class RulesRefused extends Error {
  /** Of the line that it did not like, counted from 1. */
  readonly line: number | undefined;

  constructor(words: string) {
    super(words);
    this.line = lineOf(words);
  }
}

const limitMs = 30_000;

export function findRulePrograms(): RulePrograms | undefined {
  const [save, restore] = ['iptables-save', 'iptables-restore'].map(findProgram);
  return save === undefined || restore === undefined ? undefined : { save, restore };
}

/** All tables at once: each start of a program holds this process up for some milliseconds. */
export async function savedTables({ save }: RulePrograms): Promise<SavedTables> {
  const { status, output, errors } = await runProgram(save, [], limitMs);
  if (status !== 0) throw new RulesRefused(`iptables-save: ${errors.trim()}`);
  return { nat: linesOf(output, 'nat'), filter: linesOf(output, 'filter') };
}

/** From `*nat` to `COMMIT`; a table that nobody has used is not there. */
function linesOf(output: string, table: string): readonly string[] {
  const lines = output.split('\n');
  const begin = lines.indexOf(`*${table}`);
  if (begin < 0) return [];
  // Counters of packets change all the time.
  return lines
    .slice(begin, lines.indexOf('COMMIT', begin))
    .filter((line) => /^(:|-A )/.test(line))
    .map((line) => line.replace(/ \[\d+:\d+\]$/, '').trimEnd());
}

/** @throws RulesRefused; then the table that it was in is as before. */
export async function restoreRules({ restore }: RulePrograms, text: string): Promise<void> {
  const { status, errors } = await feed(restore, ['--wait', '--noflush'], text);
  if (status !== 0) throw new RulesRefused(errors.trim() || `iptables-restore ended with ${status}`);
}

function feed(
  program: string,
  args: readonly string[],
  input: string,
): Promise<{ readonly status: number; readonly errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, [...args], {
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = `${errors}${text}`.slice(-4096);
    });
    // It may end before it has read everything; what it says then is the cause.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => resolve({ status: -1, errors: error.message }));
    child.on('close', (status) => resolve({ status: status ?? -1, errors }));
    child.stdin.end(input);
  });
}

function lineOf(words: string): number | undefined {
  const found = /\bline:? (\d+)/.exec(words)?.[1];
  return found === undefined ? undefined : Number(found);
}
