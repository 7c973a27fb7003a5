import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { root } from './stages.ts';

export interface ChildResult {
  /** 0 only if the program ended by itself and said so. */
  readonly exitCode: number;
  readonly isTimedOut: boolean;
}

export interface ChildOptions {
  readonly command: readonly string[];
  /** Receives everything that the program prints. */
  readonly logPath: string;
  readonly timeoutSeconds: number;
}

/** Runs a program in the root of the checkout, in its own process group, which never outlives this process. */
export function runChild({ command, logPath, timeoutSeconds }: ChildOptions): Promise<ChildResult> {
  const [program = '', ...rest] = command;
  return new Promise((resolve, reject) => {
    const log = createWriteStream(logPath);
    const child = spawn(program, rest, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      endGroup(child.pid);
    }, timeoutSeconds * 1000);
    const release = endWithUs(child.pid);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      release();
      log.end(() => resolve({ exitCode: code ?? 1, isTimedOut }));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: it has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Ends the group when this process is asked to end; returns how to stop watching. */
function endWithUs(pid: number | undefined): () => void {
  function onSignal(): void {
    endGroup(pid);
    process.exit(130);
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
}
