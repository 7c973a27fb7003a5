import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A running Sheaf. `stop` ends the process and, if the data directory was made for it, removes that. */
export interface SheafProcess {
  readonly url: string;
  readonly kubeconfig: string;
  readonly directory: string;
  readonly pid: number;
  /** What the process has written to its standard error so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface SheafOptions {
  /** Default: a new temporary directory, removed by `stop`. */
  readonly directory?: string;
  /** Default: 127.0.0.1 and a port that the system picks. */
  readonly listen?: string;
  /** Added to the command line. */
  readonly further?: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** `scripts/sheaf.sh` of another copy of the sources. */
  readonly launcher?: string;
  /** A program with its arguments that becomes the command line which is added to it. */
  readonly through?: readonly string[];
}

const ownLauncher = fileURLToPath(new URL('../scripts/sheaf.sh', import.meta.url));
const readyLine = /^Sheaf is ready: (https:\/\/\S+)/;
const readyDeadlineMilliseconds = 120_000;

/** Starts `sheaf up` as a process of its own and waits for its ready line and its kubeconfig (mode 0600). */
export async function startSheaf(options: SheafOptions = {}): Promise<SheafProcess> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'sheaf-test-')));
  const [program, ...args] = commandOf(options, directory);
  const env = { ...process.env, ...options.env, SHEAF_NODE: process.execPath };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const log = (): string => errors.join('');
  const stop = async (): Promise<void> => {
    await end(child);
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
  };
  try {
    const url = await ready(child, log);
    const kubeconfig = join(directory, 'kubeconfig');
    const mode = (await stat(kubeconfig)).mode & 0o777;
    if (mode !== 0o600) throw new Error(`${kubeconfig} has mode ${mode.toString(8)}, not 600`);
    return { url, kubeconfig, directory, pid: child.pid ?? 0, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function commandOf(options: SheafOptions, directory: string): [program: string, ...args: string[]] {
  const { launcher = ownLauncher, through = [], further = [], listen = '127.0.0.1:0' } = options;
  const own = [launcher, 'up', '--data-dir', directory, '--listen', listen, ...further];
  const [first, ...rest] = through;
  return first === undefined ? ['sh', ...own] : [first, ...rest, 'sh', ...own];
}

function ready(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`sheaf up ${why}\n${log()}`));
    const timer = setTimeout(
      () => fail(`was not ready in ${readyDeadlineMilliseconds} ms`),
      readyDeadlineMilliseconds,
    );
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with code ${code} before it was ready`);
    });
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = readyLine.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(timer);
}
