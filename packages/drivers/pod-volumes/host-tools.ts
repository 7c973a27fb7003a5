import { findProgram, type ProgramResult, runProgram } from '../qemu/run-program.ts';
import { refusals } from './refusals.ts';

/** Making and checking a large file system takes minutes, everything else an instant. */
const limitMs = 600_000;

const packages: Readonly<Record<string, string>> = {
  'qemu-storage-daemon': 'qemu-system-common',
  'mkfs.ext4': 'e2fsprogs',
  e2fsck: 'e2fsprogs',
  resize2fs: 'e2fsprogs',
  dumpe2fs: 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  xfs_growfs: 'xfsprogs',
  mount: 'mount',
  umount: 'mount',
  losetup: 'mount',
  blkid: 'util-linux',
  blockdev: 'util-linux',
};

/** Runs a program of the host to its end, whatever that is. */
export async function tryTool(program: string, ...args: readonly string[]): Promise<ProgramResult> {
  const path = findProgram(program);
  if (path === undefined) throw refusals.noProgram(program, wayToGet([program]));
  return await runProgram(path, args, limitMs);
}

/** Resolves to what it prints. @throws StatusError with its words */
export async function runTool(program: string, ...args: readonly string[]): Promise<string> {
  const { status, output, errors } = await tryTool(program, ...args);
  if (status !== 0)
    throw refusals.toolFailed([program, ...args].join(' '), errors.trim() || `status ${status}`);
  return output.trim();
}

/** The command that installs programs. */
export function wayToGet(programs: readonly string[]): string {
  const names = new Set(programs.map((program) => packages[program] ?? program));
  return `apt-get install -y ${[...names].join(' ')}`;
}
