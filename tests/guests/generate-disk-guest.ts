/**
 * Assembles disk-guest.S with `as` and `ld` and writes it as TypeScript. Run it after a change of the source:
 * node tests/guests/generate-disk-guest.ts
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const source = join(import.meta.dirname, 'disk-guest.S');
const directory = mkdtempSync(join(tmpdir(), 'disk-guest-'));
try {
  const object = join(directory, 'guest.o');
  const binary = join(directory, 'guest.bin');
  execFileSync('as', ['--32', source, '-o', object]);
  execFileSync('ld', [
    '-m',
    'elf_i386',
    '-Ttext=0x7c00',
    '-e',
    '0',
    '--oformat=binary',
    object,
    '-o',
    binary,
  ]);
  const lines = [
    '// Written by generate-disk-guest.ts; do not edit.',
    '',
    '/** The first sectors of a disk that boots a guest of its own; see disk-guest.S. */',
    'export function diskGuestSectors(): Uint8Array {',
    `  return Buffer.from('${readFileSync(binary).toString('base64')}', 'base64');`,
    '}',
    '',
  ];
  writeFileSync(join(import.meta.dirname, 'disk-guest.gen.ts'), lines.join('\n'));
} finally {
  rmSync(directory, { recursive: true });
}
