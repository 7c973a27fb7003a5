import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { guestArchive, guestIsMissing } from '@sheaf/testkit/containers/index';
import { runProgram } from '../program.ts';

const root = resolve(import.meta.dirname, '../..');
/** The data directory that the guides name; the session puts its own in its place. */
const documentedDirectory = '/var/lib/sheaf';
/** Machines outlive Sheaf; those of a guide are not to outlive it. */
const endMachines = `kubectl --kubeconfig ${documentedDirectory}/kubeconfig delete vm --all -A --timeout=100s`;
const readyMilliseconds = 120_000;
const blockMilliseconds = 120_000;

/** An archive of an image that guides load; there is none without the programs that go into it. */
async function writeArchive(path: string): Promise<void> {
  if (guestIsMissing !== undefined) return;
  const parts: Uint8Array[] = [];
  for await (const part of guestArchive('registry.example/web:1')) parts.push(part);
  await writeFile(path, Buffer.concat(parts));
}

/**
 * Runs the blocks of one guide as one person would: variables exported by a block are there in the next ones. `npm start`
 * gets a data directory and a port of its own, so that a Sheaf that already runs here is not touched.
 */
export class GuideSession {
  readonly #directory: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #background: ChildProcess[] = [];

  private constructor(directory: string, kubectl: string) {
    this.#directory = directory;
    const path = `${dirname(kubectl)}${delimiter}${process.env['PATH']}`;
    this.#environment = {
      ...process.env,
      PATH: path,
      HOME: directory,
      SHEAF_GUIDE_ENVIRONMENT: join(directory, 'exports'),
      // Node tells its own children by this that they are tests.
      NODE_TEST_CONTEXT: undefined,
    };
  }

  static async open(kubectl: string): Promise<GuideSession> {
    const directory = await mkdtemp(join(tmpdir(), 'sheaf-guide-'));
    await writeFile(join(directory, 'exports'), '');
    await writeArchive(join(directory, 'web.tar'));
    return new GuideSession(directory, kubectl);
  }

  /** Runs `commands` to their end. @throws with their output if one fails */
  async run(commands: string): Promise<string> {
    const script = `. "$SHEAF_GUIDE_ENVIRONMENT"\n${this.#adapted(commands)}\nexport -p >"$SHEAF_GUIDE_ENVIRONMENT"`;
    const result = await runProgram('sh', ['-eu', '-c', script], {
      cwd: root,
      env: this.#environment,
      timeout: blockMilliseconds,
    });
    if (result.code !== 0) throw new Error(`ended with code ${result.code}\n${result.out}\n${result.err}`);
    return result.out;
  }

  /** Starts one command and waits until it prints `readyText`. */
  async start(command: string, readyText: string): Promise<void> {
    const options = ['--data-dir', this.#directory, '--listen', '127.0.0.1:0'];
    const separator = command.includes(' -- ') ? [] : ['--'];
    const words = [...command.trim().split(/\s+/), ...separator, ...options];
    const child = spawn(words[0] ?? '', words.slice(1), {
      cwd: root,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await printed(child, readyText);
    this.#background.push(child);
  }

  /** Ends the machines, then stops what runs, as Ctrl-C or a service manager would. @throws if a program does not end by itself with code 0 */
  async close(): Promise<void> {
    try {
      if (existsSync(join(this.#directory, 'kubeconfig'))) await this.run(endMachines);
      for (const child of this.#background) await stopped(child);
    } finally {
      await rm(this.#directory, { recursive: true, force: true });
    }
  }

  #adapted(commands: string): string {
    return commands.replaceAll(documentedDirectory, this.#directory);
  }
}

function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((done, reject) => {
    let output = '';
    function fail(why: string): void {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${why}\n${output}`));
    }
    const timer = setTimeout(() => fail('not ready in time'), readyMilliseconds);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        if (!output.includes(text)) return;
        clearTimeout(timer);
        done();
      });
    }
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await exit;
    clearTimeout(timer);
  }
  if (child.exitCode !== 0)
    throw new Error(`ended with ${child.signalCode ?? `code ${child.exitCode}`} when told to stop`);
}
