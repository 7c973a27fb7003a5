import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BenchTarget } from '@sheaf/ports/service-proxy.contract';
import type { Answer } from './bench-agent.fixture.ts';

const agent = fileURLToPath(new URL('./bench-agent.fixture.ts', import.meta.url));

interface Told {
  readonly id: number;
  readonly answer?: Answer;
  readonly error?: string;
}

/** The agent in a network of its own. */
export class PodProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #listeners = new Map<number, (told: Told) => void>();
  readonly #ready: Promise<void>;
  #last = 0;

  constructor(networkName: string, name: string) {
    this.#child = spawn('ip', ['netns', 'exec', networkName, process.execPath, agent, name]);
    this.#ready = new Promise((resolve, reject) => {
      this.#listeners.set(0, () => resolve());
      this.#child.on('exit', () => reject(new Error(`the agent of ${name} has ended`)));
    });
    this.#ready.catch(() => undefined);
    this.#child.stderr.pipe(process.stderr);
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const told = JSON.parse(line) as Told;
      this.#listeners.get(told.id)?.(told);
    });
  }

  async ready(): Promise<void> {
    await this.#ready;
  }

  ask(target: BenchTarget): Promise<Answer | undefined> {
    return new Promise((resolve, reject) => {
      this.#order(target, false, ({ answer, error }) =>
        error === undefined ? resolve(answer) : reject(new Error(error)),
      );
    });
  }

  sendUntil(target: BenchTarget, claim: (name: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#order(target, true, ({ answer }) => {
        if (answer && claim(answer.name)) resolve();
      });
    });
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    this.#child.kill('SIGKILL');
    await ended;
  }

  #order(target: BenchTarget, isSending: boolean, listener: (told: Told) => void): void {
    this.#last++;
    this.#listeners.set(this.#last, listener);
    this.#child.stdin.write(`${JSON.stringify({ id: this.#last, target, isSending })}\n`);
  }
}
