import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedContainer } from './engine-containers.ts';
import type { EngineLayout } from './engine-layout.ts';
import { runPodman } from './podman-program.ts';

/** How the engine calls an end that nobody saw. */
const unknownCode = '-1';

/**
 * Ends what is left of a container whose watcher was killed, and does for the engine what the watcher would have done: writes down
 * that it has ended, and has it give back what it had.
 */
export async function endUnwatched(
  layout: EngineLayout,
  { engineId, processId }: ListedContainer,
  limitMs: number,
): Promise<void> {
  await endFirst(processId, engineId);
  const exits = join(layout.run, 'libpod', 'exits');
  await mkdir(exits, { recursive: true });
  await writeFile(join(exits, engineId), unknownCode, { flag: 'wx' }).catch((error: unknown) => {
    // The watcher came to it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  await tidyUp(layout, engineId, limitMs);
}

/** Has the engine do what is to be done after the end of a container, which its watcher has not seen to. */
export async function tidyUp(layout: EngineLayout, engineId: string, limitMs: number): Promise<void> {
  const { status, errors } = await runPodman(layout, {
    args: ['container', 'cleanup', engineId],
    signal: AbortSignal.timeout(limitMs),
  });
  if (status !== 0)
    throw new Error(`container ${engineId} has ended and cannot be cleaned up: ${errors.trim()}`);
}

/** Not through the engine: that would wait for what the watcher says. What else there is of it ends with the clean-up. */
async function endFirst(processId: number, engineId: string): Promise<void> {
  try {
    const groups = await readFile(`/proc/${processId}/cgroup`, 'utf8');
    if (groups.includes(`libpod-${engineId}`)) process.kill(processId, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It ended with its watcher.
    if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
  }
}
