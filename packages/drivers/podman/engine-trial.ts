import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { dockerArchive } from './archive/image-archive.ts';
import { type EngineChoice, type EngineSettings, writeEngineFiles } from './engine-files.ts';
import { type EngineLayout, engineLayout } from './engine-layout.ts';
import { unmountBelow } from './mounts.ts';
import { removeNetwork } from './network-traces.ts';
import { pauseImage } from './pause/pause-image.ts';
import { type ProgramEnd, runPodman } from './podman-program.ts';

export interface TrialResult {
  /** The first that works; absent if none does. */
  readonly choice?: EngineChoice;
  /** Why the network of pods cannot be had; absent if it can. */
  readonly networkFailure?: string;
  /** Why limits cannot be had; absent if they can. */
  readonly limitFailure?: string;
  /** What the choices before it failed with, or all of them. */
  readonly failures: readonly string[];
}

export interface TrialOptions {
  readonly layout: EngineLayout;
  readonly settings: Omit<EngineSettings, keyof EngineChoice>;
  readonly candidates: readonly EngineChoice[];
  readonly limitMs: number;
}

/** Runs a container with each candidate until one works, in a directory of its own that is gone afterwards. */
export async function tryEngines(options: TrialOptions): Promise<TrialResult> {
  const failures: string[] = [];
  for (const candidate of options.candidates) {
    const result = await tryEngine(options, candidate);
    if (result.failure === undefined) return { choice: candidate, failures, ...result };
    failures.push(`${candidate.runtime} on ${candidate.storage}: ${result.failure}`);
  }
  return { failures };
}

interface Attempt {
  readonly failure?: string;
  readonly networkFailure?: string;
  readonly limitFailure?: string;
}

async function tryEngine(options: TrialOptions, candidate: EngineChoice): Promise<Attempt> {
  const layout = trialLayout(options.layout);
  await removeTrial(layout);
  await mkdir(layout.directory, { recursive: true });
  await writeEngineFiles(layout, { ...options.settings, ...candidate });
  try {
    const archive = dockerArchive([pauseImage()]);
    const loaded = await run(options, layout, { args: ['load', '--quiet'], input: archive });
    if (loaded !== undefined) return { failure: loaded };
    return await tryContainer(options, layout);
  } finally {
    await run(options, layout, { args: ['rm', '--all', '--force', '--time', '0'] });
    await removeNetwork(layout);
    await removeTrial(layout);
  }
}

/** With everything; then without the network, and without limits, to tell which of them does not work. */
async function tryContainer(options: TrialOptions, layout: EngineLayout): Promise<Attempt> {
  const attempt = (args: readonly string[]): Promise<string | undefined> =>
    run(options, layout, {
      args: ['run', '--detach', '--pull', 'never', ...args, pauseImage().name],
    });
  const limits = ['--memory', '64m', '--cpus', '0.5', '--pids-limit', '16'];
  const network = options.settings.podSubnet === undefined ? 'none' : layout.networkName;
  const failure = await attempt([...limits, '--network', network]);
  if (failure === undefined) return {};
  const limitFailure = await attempt([...limits, '--network', 'none']);
  if (limitFailure === undefined) return { networkFailure: failure };
  const networkFailure = await attempt(['--network', network]);
  if (networkFailure === undefined) return { limitFailure };
  const anyFailure = await attempt(['--network', 'none']);
  return anyFailure === undefined ? { limitFailure, networkFailure } : { failure: anyFailure };
}

/** Its words, if it failed. */
async function run(
  { limitMs }: TrialOptions,
  layout: EngineLayout,
  { args, input }: { readonly args: readonly string[]; readonly input?: Buffer },
): Promise<string | undefined> {
  const end = await runPodman(layout, {
    args,
    ...(input && { input: once(input) }),
    signal: AbortSignal.timeout(limitMs),
  });
  return end.status === 0 ? undefined : wordsOf(end, limitMs);
}

function wordsOf({ status, errors }: ProgramEnd, limitMs: number): string {
  const lines = errors.trim().split('\n');
  return lines.at(-1) || (status < 0 ? `podman did not end within ${limitMs} ms` : `status ${status}`);
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** The same network, so that nothing else is left on the host; everything else apart. */
function trialLayout(layout: EngineLayout): EngineLayout {
  const { networkName, bridgeName } = layout;
  return { ...engineLayout(join(layout.directory, 'trial')), networkName, bridgeName };
}

/** conmon has podman tidy up behind a container that has been removed already, which may still be writing here: that ends soon. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const;

async function removeTrial(layout: EngineLayout): Promise<void> {
  await unmountBelow(layout.directory);
  await rm(layout.directory, removal);
}
