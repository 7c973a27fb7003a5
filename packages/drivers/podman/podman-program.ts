import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EngineLayout } from './engine-layout.ts';

export interface ProgramEnd {
  /** -1 if it was ended by a signal or could not be run. */
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

export interface ProgramOrder {
  readonly args: readonly string[];
  readonly input?: AsyncIterable<Uint8Array>;
  /** Ends the program. */
  readonly signal?: AbortSignal;
  readonly environment?: Readonly<Record<string, string>>;
}

const longestOutput = 1024 * 1024;
const passedOn = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

/** What an engine's programs see of the environment: its own configuration, and how to reach registries. */
export function engineEnvironment(layout: EngineLayout): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME: layout.home,
    CONTAINERS_CONF: layout.containersConf,
    CONTAINERS_STORAGE_CONF: layout.storageConf,
    CONTAINERS_REGISTRIES_CONF: layout.registriesConf,
    TMPDIR: layout.temporary,
  };
  for (const name of passedOn) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

/** Runs podman on one engine. It ends with this process, whatever ends that. */
export async function runPodman(layout: EngineLayout, order: ProgramOrder): Promise<ProgramEnd> {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'podman', ...order.args], {
    env: { ...engineEnvironment(layout), ...order.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: layout.directory,
  });
  const end = (): boolean => child.kill('SIGKILL');
  if (order.signal?.aborted) end();
  order.signal?.addEventListener('abort', end, { once: true });
  const printed = Promise.all([collect(child.stdout), collect(child.stderr)]);
  printed.catch(() => undefined);
  const ended = once(child, 'close').then(
    ([code]: unknown[]) => (typeof code === 'number' ? code : -1),
    (error: Error) => error,
  );
  // A program that ends early does not take in the rest.
  const feeding = pipeline(Readable.from(order.input ?? []), child.stdin).catch((error: unknown) => error);
  try {
    const status = await ended;
    await feeding;
    if (status instanceof Error) return { status: -1, output: '', errors: status.message };
    const [output, errors] = await printed;
    return { status, output, errors };
  } finally {
    order.signal?.removeEventListener('abort', end);
  }
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const bytes of stream) text = `${text}${bytes.toString()}`.slice(-longestOutput);
  return text;
}
