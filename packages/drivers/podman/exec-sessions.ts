import { readFile } from 'node:fs/promises';
import type { RestCall } from './rest-client.ts';

export interface ExecState {
  readonly Running: boolean;
  /** It has ended, or was never started and never will be. */
  readonly CanRemove: boolean;
  readonly ExitCode: number;
  readonly Pid: number;
}

/** Nobody would read what it says any more. */
export async function endProcess(state: () => Promise<ExecState>): Promise<void> {
  try {
    const { Running, Pid } = await state();
    if (Running && Pid > 0 && (await isExecuted(Pid))) process.kill(Pid, 'SIGKILL');
  } catch {
    // It has ended, or the engine has.
  }
}

/** In a control group of the engine: the number has not gone to somebody else. */
async function isExecuted(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cgroup`, 'utf8')).includes('libpod');
}

/** Ends what an earlier life has executed: its connections ended with it. */
export async function endAbandoned(
  ids: readonly string[],
  call: (call: Pick<RestCall, 'method' | 'path'>) => Promise<unknown>,
): Promise<void> {
  for (const id of ids)
    await endProcess(async () => (await call({ method: 'GET', path: `/exec/${id}/json` })) as ExecState);
}
