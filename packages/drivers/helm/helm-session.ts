import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { HelmFailure } from '@sheaf/ports';
import { failureNamed, failureOf, type Phase } from './failure-words.ts';

export interface HelmSessionOptions {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A line of the log. */
  readonly print: (line: string) => void;
}

/** Helm has failed: why, in its own words. */
export class HelmError extends Error {
  override readonly name = 'HelmError';
  readonly failure: HelmFailure;

  constructor(failure: HelmFailure, words: string) {
    super(words);
    this.failure = failure;
  }
}

export interface HelmCall {
  readonly phase: Phase;
  /** Not for the log. */
  readonly input?: string;
  /** What it prints is an answer, not news. */
  readonly isQuestion?: boolean;
  /** Others go first: it takes what they leave of the processors. */
  readonly isPatient?: boolean;
  /** How long somebody else is waited for, and who that is. */
  readonly patience?: { readonly milliseconds: number; readonly asked: string };
}

const keptLines = 12;

/** Calls of Helm, one after the other, each told in the log. */
export class HelmSession {
  readonly #options: HelmSessionOptions;
  #child: ChildProcess | undefined;
  #isInterrupted = false;

  constructor(options: HelmSessionOptions) {
    this.#options = options;
  }

  get program(): string {
    return this.#options.program;
  }

  /** Asks Helm to give up; nothing new is begun. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#child?.kill('SIGTERM');
  }

  /** What Helm prints. @throws HelmError */
  async call(
    args: readonly string[],
    { phase, input, patience, isQuestion = false, isPatient = false }: HelmCall,
  ): Promise<string> {
    if (this.#isInterrupted) throw new HelmError(failureOf('release', 'context canceled'), 'interrupted');
    const { print, program, environment } = this.#options;
    print(`+ helm ${args.join(' ')}`);
    const child = spawn(program, args, { env: { ...environment }, stdio: ['pipe', 'pipe', 'pipe'] });
    if (isPatient) yieldToOthers(child);
    this.#child = child;
    const printed = { out: '', err: '' };
    child.stdout.on('data', (bytes: Buffer) => (printed.out += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (printed.err += bytes.toString()));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
    const code = await endOf(child, patience).catch((error: unknown) => {
      throw error instanceof HelmError ? error : unusable(`${program} cannot be run: ${String(error)}`);
    });
    this.#child = undefined;
    if (!isQuestion) printLines(print, printed.out);
    if (code === 0 || !isQuestion) printLines(print, printed.err);
    if (code === 0) return printed.out;
    throw this.#failure({ phase, code, words: lastWords(printed.err) });
  }

  #failure({
    phase,
    code,
    words,
  }: {
    readonly phase: Phase;
    readonly code: number | null;
    readonly words: string;
  }): HelmError {
    if (this.#isInterrupted) return new HelmError(failureOf('release', 'context canceled'), words);
    return words === '' ? silent(this.program, code) : new HelmError(failureOf(phase, words), words);
  }
}

function yieldToOthers({ pid }: ChildProcess): void {
  // One that could not be started has no number.
  if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
}

/** Helm itself is at fault. */
export function unusable(words: string): HelmError {
  return new HelmError(failureNamed('HelmUnusable'), words);
}

function silent(program: string, code: number | null): HelmError {
  if (code !== null) return unusable(`${program} has ended with ${code} and said nothing`);
  return new HelmError(failureNamed('Killed'), `${program} was ended by a signal`);
}

/** Its exit code; null if a signal has ended it. @throws HelmError after the time that there is patience for */
async function endOf(child: ChildProcess, patience: HelmCall['patience']): Promise<number | null> {
  let isOverdue = false;
  const giveUp = (): void => {
    isOverdue = true;
    child.kill('SIGTERM');
  };
  const timer = patience && setTimeout(giveUp, patience.milliseconds);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const code = await ended.finally(() => clearTimeout(timer));
  if (isOverdue && patience) throw overdue(patience);
  return code;
}

function overdue({ milliseconds, asked }: NonNullable<HelmCall['patience']>): HelmError {
  const words = `${asked} has not answered within ${milliseconds / 1000} s; the field timeout allows more`;
  return new HelmError(failureNamed('RepositoryUnreachable'), words);
}

function printLines(print: (line: string) => void, text: string): void {
  for (const line of text.trimEnd().split('\n')) if (line !== '') print(line);
}

/** Warnings are in the log; that something has failed is told by who repeats them. */
function lastWords(text: string): string {
  const lines = text
    .trim()
    .split('\n')
    .filter((line) => !/^(WARNING|W\d{4}|I\d{4})/.test(line));
  return lines
    .slice(-keptLines)
    .join('\n')
    .replace(/^Error: ([A-Z]+ FAILED: )?/, '');
}
