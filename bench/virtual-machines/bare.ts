import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Guest } from './guest.ts';
import { untilPrinted } from './serial-watch.ts';

export interface BareMachine {
  readonly pid: number;
  /** From the start of the process to the first words of the guest. */
  readonly milliseconds: number;
  kill(): Promise<void>;
}

export interface BareOptions {
  /** Where the wrapped emulator is, as Sheaf has it: the shell that adds the guest is on both sides. */
  readonly bin: string;
  readonly directory: string;
  readonly guest: Guest;
}

let count = 0;

/** The command line that a person would write for this guest, with the accelerator and the cache that Sheaf chooses. */
export async function startBare({ bin, directory, guest }: BareOptions): Promise<BareMachine> {
  const name = `bare-${++count}`;
  const log = join(directory, `${name}.log`);
  const cache = guest.memoryMebibytes < 64 ? 4 : 64;
  const begun = performance.now();
  const child = spawn(
    join(bin, 'qemu-system-x86_64'),
    [
      ...[
        '-name',
        name,
        '-machine',
        'q35',
        '-accel',
        `tcg,tb-size=${cache}`,
        '-cpu',
        'max',
        '-m',
        String(guest.memoryMebibytes),
      ],
      ...['-nodefaults', '-no-user-config', '-display', 'none', '-serial', `file:${log}`],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  await untilPrinted(log, guest.banner);
  const milliseconds = performance.now() - begun;
  return { pid: child.pid ?? 0, milliseconds, kill: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}
