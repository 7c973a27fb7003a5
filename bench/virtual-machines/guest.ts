import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testGuestImage } from '../../packages/drivers/qemu/firmware/test-guest.gen.ts';

/** What both sides boot: arguments of QEMU, and what its own code prints first. */
export interface Guest {
  readonly args: readonly string[];
  readonly memoryMebibytes: number;
  readonly banner: string;
}

/** Firmware of a few hundred bytes that prints at once. */
export async function tinyGuest(directory: string): Promise<Guest> {
  const path = join(directory, 'guest.bin');
  await writeFile(path, testGuestImage());
  return { args: ['-bios', path], memoryMebibytes: 16, banner: 'guest ready' };
}

/** A Linux kernel and an initrd whose /init prints the banner. */
export function linuxGuest(kernel: string, initrd: string): Guest {
  const append = 'console=ttyS0 quiet cryptomgr.notests panic=-1';
  return {
    args: ['-kernel', kernel, '-initrd', initrd, '-append', append],
    memoryMebibytes: 128,
    banner: userSpaceBanner,
  };
}

export const userSpaceBanner = 'user space is there';

/**
 * A directory for the front of the search path, in which QEMU has the guest's arguments added: the API has no way to name
 * a firmware file. The shell that this takes is the same on both sides.
 */
export async function wrapEmulator(
  directory: string,
  options: { readonly emulator: string; readonly guest: Guest },
): Promise<string> {
  const { emulator, guest } = options;
  const bin = join(directory, 'bin');
  await mkdir(bin, { recursive: true });
  const path = join(bin, 'qemu-system-x86_64');
  const quoted = guest.args.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  // Questions about the program itself are passed on as they are.
  const script = `#!/bin/sh\ncase "$1" in -name) exec ${emulator} "$@" ${quoted};; esac\nexec ${emulator} "$@"\n`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  return bin;
}
