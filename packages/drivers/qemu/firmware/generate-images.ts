/**
 * Assembles the firmware images beside this file with `as` and `ld`, and writes them as TypeScript: the accelerator's
 * probe, and the guest of the tests. Run it after a change of their sources: node packages/drivers/qemu/firmware/generate-images.ts
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const imageBytes = 65536;
const resetVector = 0xfff0;

interface Image {
  readonly source: string;
  readonly bits: '32' | '64';
  readonly target: string;
  readonly name: string;
  readonly purpose: string;
}

const images: readonly Image[] = [
  {
    source: 'accelerator-probe.S',
    bits: '64',
    target: 'accelerator-probe.gen.ts',
    name: 'acceleratorProbeImage',
    purpose: 'Firmware that tries what every guest needs; see accelerator-probe.S.',
  },
  {
    source: 'test-guest.S',
    bits: '32',
    target: 'test-guest.gen.ts',
    name: 'testGuestImage',
    purpose: 'A guest that is its own firmware; see test-guest.S.',
  },
];

function assemble({ source, bits }: Image, directory: string): Buffer {
  const object = join(directory, 'image.o');
  const binary = join(directory, 'image.bin');
  execFileSync('as', [`--${bits}`, join(import.meta.dirname, source), '-o', object]);
  const emulation = bits === '32' ? 'elf_i386' : 'elf_x86_64';
  execFileSync('ld', ['-m', emulation, '-Ttext=0', '-e', '0', '--oformat=binary', object, '-o', binary]);
  return readFileSync(binary);
}

/** Code at the beginning, zeros, and the first instruction at the end: only these parts are written down. */
function textOf(image: Image, bytes: Buffer): string {
  if (bytes.length !== imageBytes) throw new Error(`${image.source} must have ${imageBytes} bytes`);
  const code = bytes.subarray(0, resetVector);
  const end = code.findLastIndex((byte) => byte !== 0) + 1;
  return [
    '// Written by generate-images.ts; do not edit.',
    '',
    `/** ${image.purpose} */`,
    `export function ${image.name}(): Uint8Array {`,
    `  const image = Buffer.alloc(${imageBytes});`,
    `  image.write('${code.subarray(0, end).toString('base64')}', 'base64');`,
    `  image.write('${bytes.subarray(resetVector).toString('base64')}', ${resetVector}, 'base64');`,
    '  return image;',
    '}',
    '',
  ].join('\n');
}

const directory = mkdtempSync(join(tmpdir(), 'firmware-'));
try {
  for (const image of images)
    writeFileSync(join(import.meta.dirname, image.target), textOf(image, assemble(image, directory)));
} finally {
  rmSync(directory, { recursive: true });
}
