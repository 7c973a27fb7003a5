import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type Clock,
  type Disposable,
  type Logger,
  type Random,
  StatusError,
  sleep,
  toError,
} from '@sheaf/base';
import {
  identityOf,
  isAlive,
  type ProcessIdentity,
  parseIdentity,
  signalProcess,
  waitForExit,
} from '../qemu/process-identity.ts';
import type { EngineLayout } from './engine-layout.ts';
import type { PodmanLimits } from './engine-limits.ts';
import { engineEnvironment } from './podman-program.ts';
import { isSocketPath, RestClient } from './rest-client.ts';

export interface ServiceParts {
  readonly layout: EngineLayout;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly limits: PodmanLimits;
  readonly bootId: string;
  /** A new one answers now. */
  readonly onStart: (client: RestClient) => void;
}

interface Running {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  readonly client: RestClient;
}

/** For a service that is told to end to finish what it is in. */
const politeMs = 10_000;
const pollMs = 10;
/** Without any question for so long, it ends itself, in seconds. */
const idleSeconds = 600;

/**
 * The one service process of an engine, which answers on a socket. It ends with this process. What runs in containers does not
 * need it, so it may be killed at any time; it is started when it is needed next.
 */
export class EngineService implements Disposable {
  readonly #parts: ServiceParts;
  #running: Promise<Running> | undefined;
  #isDisposed = false;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** A service that answers. @throws StatusError where none can be started */
  async client(): Promise<RestClient> {
    return (await this.#ensured()).client;
  }

  /** Starts it if it does not run; ends it if it does not answer, so that the next call starts it. */
  async check(): Promise<void> {
    const { client, identity } = await this.#ensured();
    const { answerMs } = this.#parts.limits;
    try {
      await client.call({ method: 'GET', path: '/_ping', limitMs: answerMs });
    } catch (error) {
      // It ended meanwhile, or another one runs already.
      if (this.#isDisposed || !isAlive(identity, this.#parts.bootId)) return;
      this.#parts.logger.warn('The container engine does not answer and is started again', {
        error: toError(error),
        processId: identity.pid,
      });
      signalProcess(identity, this.#parts.bootId, 'SIGKILL');
    }
  }

  /** Ends the service of an earlier life, after it has finished what it was in: nothing is done behind the back of this one. */
  async endEarlier(): Promise<void> {
    const { layout, bootId, clock } = this.#parts;
    const text = await readFile(layout.serviceRecord, 'utf8').catch(() => '');
    const identity = parseIdentity(text);
    if (!identity) return;
    signalProcess(identity, bootId, 'SIGTERM');
    if (!(await waitForExit(identity, { bootId, clock, limitMs: politeMs })))
      signalProcess(identity, bootId, 'SIGKILL');
    await waitForExit(identity, { bootId, clock, limitMs: politeMs });
    await rm(layout.serviceRecord, { force: true });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#running?.then(
      ({ client, child }) => {
        client.dispose();
        child.kill('SIGTERM');
      },
      () => undefined,
    );
  }

  async #ensured(): Promise<Running> {
    if (this.#isDisposed) throw new Error('the driver has been disposed');
    const running = (this.#running ??= this.#start());
    try {
      const found = await running;
      if (isAlive(found.identity, this.#parts.bootId)) return found;
    } catch (error) {
      if (this.#running === running) this.#running = undefined;
      throw error;
    }
    // It has ended, and its end has not been told yet.
    if (this.#running === running) this.#running = undefined;
    return await this.#ensured();
  }

  async #start(): Promise<Running> {
    const { layout, limits, onStart, random } = this.#parts;
    const socketPath = join(layout.run, `service-${random.uuid().slice(0, 8)}.sock`);
    const client = await RestClient.open(socketPath);
    const child = launch(layout, socketPath);
    const ended = exitOf(child).then(async (words) => {
      client.dispose();
      await rm(socketPath, { force: true });
      return words;
    });
    if (child.pid === undefined) throw unstarted(await ended);
    const identity = identityOf(child.pid, this.#parts.bootId);
    if (identity) await writeFile(layout.serviceRecord, identityLine(identity));
    const answered = await Promise.race([ended, this.#answers(client, limits.startMs)]);
    if (answered !== true || !identity) {
      child.kill('SIGKILL');
      throw unstarted(`${answered === true ? '' : answered} ${await lastLine(layout.serviceLog)}`.trim());
    }
    onStart(client);
    return { child, identity, client };
  }

  async #answers(client: RestClient, limitMs: number): Promise<true | string> {
    const { clock } = this.#parts;
    const end = clock.monotonic() + limitMs;
    while (clock.monotonic() < end) {
      const isUp = await client.call({ method: 'GET', path: '/_ping', limitMs }).then(
        () => true,
        () => false,
      );
      if (isUp) return true;
      await sleep(clock, pollMs);
    }
    return `it did not answer within ${limitMs} ms`;
  }
}

/** A session of its own: what is typed at a terminal is not for it. */
function launch(layout: EngineLayout, socketPath: string): ChildProcess {
  const log = openSync(layout.serviceLog, 'a', 0o600);
  try {
    // Its directory is where it runs.
    const address = isSocketPath(socketPath) ? socketPath : `/proc/self/cwd/${basename(socketPath)}`;
    const command = ['podman', 'system', 'service', '--time', String(idleSeconds), `unix://${address}`];
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', ...command], {
      env: engineEnvironment(layout),
      cwd: layout.run,
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `it ended by ${signal}` : `it ended with ${code}`));
  });
}

function identityLine({ pid, startTime, bootId }: ProcessIdentity): string {
  return `${pid} ${startTime} ${bootId}\n`;
}

async function lastLine(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trim().split('\n').at(-1) ?? '';
}

function unstarted(words: string): StatusError {
  return new StatusError({
    reason: 'ServiceUnavailable',
    message: `the service of podman cannot be started: ${words}`,
  });
}
