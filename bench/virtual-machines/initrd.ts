import { readFile, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { userSpaceBanner } from './guest.ts';

const directory = 0o040755;
const program = 0o100755;
const console = 0o020600;

/** An initrd of one static busybox, whose /init prints the banner and waits. */
export async function writeInitrd(path: string, busybox: string): Promise<void> {
  const init = `#!/bin/busybox sh\necho '${userSpaceBanner}'\nexec /bin/busybox sleep 1000000\n`;
  const archive = Buffer.concat([
    entry('bin', directory),
    entry('dev', directory),
    entry('dev/console', console, { major: 5, minor: 1 }),
    entry('bin/busybox', program, { content: await readFile(busybox) }),
    entry('init', program, { content: Buffer.from(init) }),
    entry('TRAILER!!!', 0),
  ]);
  await writeFile(path, gzipSync(archive, { level: 1 }));
}

interface EntryFacts {
  readonly content?: Buffer;
  readonly major?: number;
  readonly minor?: number;
}

let inodes = 0;

/** One entry of the archive format that the kernel unpacks ("newc"). */
function entry(name: string, mode: number, facts: EntryFacts = {}): Buffer {
  const { content = Buffer.alloc(0), major = 0, minor = 0 } = facts;
  const numbers = [++inodes, mode, 0, 0, 1, 0, content.length, 0, 0, major, minor, name.length + 1, 0];
  const head = `070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}${name}\0`;
  return Buffer.concat([padded(Buffer.from(head)), padded(content)]);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}
