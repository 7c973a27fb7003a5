import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@sheaf/base';

const searchPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const environment = { PATH: searchPath.join(':'), LC_ALL: 'C' };
/** No program that is run here has more to say. */
const longestOutput = 4 * 1024 * 1024;

/**
 * Goes on as the program only if its parent, the first argument, still lives: one that died before it could be watched
 * would not end this one. The arguments are words, never read as commands.
 */
const onlyWithParent = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"';

export interface ProgramLimits {
  readonly memoryBytes?: number;
  readonly processorSeconds?: number;
  /** The largest file that it may write. */
  readonly fileBytes?: number;
  readonly timeoutMs?: number;
}

export interface ProgramCall {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly limits: ProgramLimits;
  /** It is one that talks to others. */
  readonly hasNetwork?: boolean;
  /** Told of each piece of output as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** A program ended with an error; `words` is what it said. */
export class ProgramFailure extends Error {
  readonly words: string;
  readonly exitCode: number | undefined;

  constructor(program: string, words: string, exitCode: number | undefined) {
    super(words === '' ? `${program} ended without a word (${exitCode ?? 'killed'})` : words);
    this.words = words;
    this.exitCode = exitCode;
  }
}

/**
 * Runs programs with limits, from words that no shell reads, and without a network where this process may take it away. None outlives
 * this process, so that nothing writes to files that a later life works on.
 */
export class ProgramRunner {
  readonly #clock: Clock;
  readonly #wrappers: ReadonlySet<string>;

  private constructor(clock: Clock, wrappers: ReadonlySet<string>) {
    this.#clock = clock;
    this.#wrappers = wrappers;
  }

  static async open(clock: Clock): Promise<ProgramRunner> {
    const wrappers = new Set<string>();
    for (const name of ['prlimit', 'setpriv']) if (await findProgram(name)) wrappers.add(name);
    const runner = new ProgramRunner(clock, wrappers);
    if (await runner.#mayLeaveNetwork()) wrappers.add('unshare');
    return runner;
  }

  /** Resolves with its output. @throws ProgramFailure; the signal's reason when aborted */
  async run(call: ProgramCall, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const child = this.start(call);
    const stop = (): void => void child.kill('SIGKILL');
    const { timeoutMs } = call.limits;
    const timer = timeoutMs === undefined ? undefined : this.#clock.schedule(timeoutMs, stop);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await outcomeOf(child, call);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      timer?.dispose();
      signal.removeEventListener('abort', stop);
    }
  }

  /** The running program, for those who stream through it. */
  start({ program, arguments: words, limits, hasNetwork = false }: ProgramCall): ChildProcess {
    const [first = program, ...rest] = [...this.#prefix(limits, hasNetwork), program, ...words];
    return spawn(first, rest, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
  }

  #prefix({ memoryBytes, processorSeconds, fileBytes }: ProgramLimits, hasNetwork: boolean): string[] {
    const limits = [
      memoryBytes !== undefined && `--as=${memoryBytes}`,
      processorSeconds !== undefined && `--cpu=${processorSeconds}`,
      fileBytes !== undefined && `--fsize=${fileBytes}`,
      '--core=0',
    ].filter((item) => item !== false);
    return [
      ...(this.#wrappers.has('prlimit') ? ['prlimit', ...limits] : []),
      ...(this.#wrappers.has('setpriv') ? boundToParent() : []),
      ...(this.#wrappers.has('unshare') && !hasNetwork ? ['unshare', '--net'] : []),
    ];
  }

  async #mayLeaveNetwork(): Promise<boolean> {
    const call = { program: 'unshare', arguments: ['--net', 'true'], limits: {} };
    try {
      await this.run(call, new AbortController().signal);
      return true;
    } catch {
      // Not root, or not installed: the other limits stand.
      return false;
    }
  }
}

function boundToParent(): string[] {
  const watched = ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL'];
  return [...watched, 'sh', '-c', onlyWithParent, 'sh', String(process.pid)];
}

/** The path of a program, if it is installed. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const directory of searchPath) {
    const path = join(directory, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

function outcomeOf(child: ChildProcess, { program, onOutput }: ProgramCall): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let words = '';
    child.stdin?.on('error', () => undefined);
    child.stdin?.end();
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (onOutput) onOutput(text);
      else if (output.length < longestOutput) output += text;
      else child.kill('SIGKILL');
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (words.length < longestOutput) words += text;
    });
    child.on('error', (error) => reject(new ProgramFailure(program, error.message, undefined)));
    child.on('close', (exitCode) => {
      if (exitCode === 0) resolve(output);
      else reject(new ProgramFailure(program, words.trim(), exitCode ?? undefined));
    });
  });
}
