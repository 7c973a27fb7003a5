import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, toError } from '@sheaf/base';
import type { PullOrder, PullProgress } from '@sheaf/ports';
import type { PodmanEngine } from './podman-engine.ts';
import { type ProgramEnd, runPodman } from './podman-program.ts';

export type PullEnd = { readonly imageId: string } | Extract<PullProgress, { readonly state: 'failed' }>;

const pollMs = 200;

/**
 * One pull, as a program of its own: so it can be given up at any moment, has its own trusted authorities and credentials, and
 * what has come is seen in its directory. Layers that are whole stay stored.
 */
export class ImagePull {
  readonly #engine: PodmanEngine;
  readonly #order: PullOrder;
  readonly #directory: string;
  readonly #giveUp = new AbortController();
  #received = 0;
  /** Of files that have been taken away again: their bytes are in the storage. */
  #seen = new Map<string, number>();
  end: PullEnd | undefined;
  readonly done: Promise<void>;

  constructor(engine: PodmanEngine, order: PullOrder, onProgress: () => void) {
    this.#engine = engine;
    this.#order = order;
    this.#directory = join(engine.parts.layout.pulls, engine.parts.random.uuid());
    this.done = this.#run(onProgress);
  }

  get receivedBytes(): number {
    return this.#received;
  }

  async cancel(): Promise<void> {
    this.#giveUp.abort(new Error('the pull was given up'));
    await this.done;
  }

  async #run(onProgress: () => void): Promise<void> {
    const end = await this.#pull(onProgress).catch(
      (error: unknown): PullEnd => ({
        state: 'failed',
        message: toError(error).message,
        nature: 'transient',
      }),
    );
    await rm(this.#directory, { recursive: true, force: true }).catch((error: unknown) =>
      this.#engine.parts.logger.warn('What an image pull has left could not be removed', { error }),
    );
    this.end = end;
    onProgress();
  }

  async #pull(onProgress: () => void): Promise<PullEnd> {
    const running = new AbortController();
    const args = await this.#arguments();
    const watching = this.#watch(onProgress, running.signal);
    try {
      const end = await runPodman(this.#engine.parts.layout, {
        args,
        environment: { TMPDIR: this.#directory },
        signal: AbortSignal.any([this.#giveUp.signal, this.#engine.signal]),
      });
      return this.#endOf(end);
    } finally {
      running.abort();
      await watching;
    }
  }

  async #arguments(): Promise<readonly string[]> {
    const { credentials, additionalAuthorities, isInsecure, reference } = this.#order;
    const directory = this.#directory;
    await mkdir(join(directory, 'certificates'), { recursive: true, mode: 0o700 });
    const args = ['pull', '--quiet', `--tls-verify=${isInsecure !== true}`];
    const authPath = join(directory, 'auth.json');
    const [registry = ''] = reference.split('/');
    const auth =
      credentials && Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
    // An empty file, too: the user's own is not looked for.
    await writeFile(authPath, JSON.stringify({ auths: auth ? { [registry]: { auth } } : {} }), {
      mode: 0o600,
    });
    args.push('--authfile', authPath);
    if (additionalAuthorities !== undefined) {
      await writeFile(join(directory, 'certificates', 'ca.crt'), additionalAuthorities);
      args.push('--cert-dir', join(directory, 'certificates'));
    }
    return [...args, `docker://${reference}`];
  }

  /** Counts what comes, and gives up where nothing does. */
  async #watch(onProgress: () => void, running: AbortSignal): Promise<void> {
    const { clock, limits } = this.#engine.parts;
    let movedAt = clock.monotonic();
    for (;;) {
      await sleep(clock, pollMs, running).catch(() => undefined);
      if (running.aborted) return;
      const received = await this.#count();
      if (received > this.#received) {
        this.#received = received;
        movedAt = clock.monotonic();
        onProgress();
      } else if (clock.monotonic() - movedAt > limits.pullStallMs)
        this.#giveUp.abort(new Error(`nothing came for ${limits.pullStallMs} ms`));
    }
  }

  async #count(): Promise<number> {
    for (const name of await readdir(this.#directory, { recursive: true }).catch(() => [])) {
      const found = await stat(join(this.#directory, name)).catch(() => undefined);
      if (found?.isFile()) this.#seen.set(name, Math.max(found.size, this.#seen.get(name) ?? 0));
    }
    return [...this.#seen.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  #endOf({ status, output, errors }: ProgramEnd): PullEnd {
    if (status === 0) return { imageId: output.trim().split('\n').at(-1) ?? '' };
    const { signal } = this.#giveUp;
    if (signal.aborted)
      return { state: 'failed', message: (signal.reason as Error).message, nature: 'transient' };
    const message = wordsOf(errors);
    return { state: 'failed', message, nature: faults.test(message) ? 'fault' : 'transient' };
  }
}

/** What will not change by itself. */
const faults =
  /manifest unknown|not found|unauthorized|authentication required|denied|invalid reference|certificate|HTTP response to HTTPS|no image found|unsupported/i;

function wordsOf(errors: string): string {
  const lines = errors.trim().split('\n');
  const told = lines.findLast((line) => line.startsWith('Error:')) ?? lines.at(-1) ?? '';
  return told.replace(/^Error: /, '').trim() || 'podman ended without a word';
}
