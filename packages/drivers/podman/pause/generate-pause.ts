/**
 * Assembles the first process of sandboxes for each processor, and writes the programs as TypeScript. Run it after a change of
 * their sources, with the binutils of both: node packages/drivers/podman/pause/generate-pause.ts
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Target {
  readonly architecture: 'amd64' | 'arm64';
  /** Begins the names of its binutils. */
  readonly tools: string;
}

const targets: readonly Target[] = [
  { architecture: 'amd64', tools: 'x86_64-linux-gnu-' },
  { architecture: 'arm64', tools: 'aarch64-linux-gnu-' },
];

function assemble({ architecture, tools }: Target, directory: string): string {
  const object = join(directory, 'pause.o');
  const program = join(directory, 'pause');
  execFileSync(`${tools}as`, [join(import.meta.dirname, `pause-${architecture}.S`), '-o', object]);
  execFileSync(`${tools}ld`, ['-static', '--strip-all', '--nmagic', object, '-o', program]);
  return readFileSync(program).toString('base64');
}

const directory = mkdtempSync(join(tmpdir(), 'pause-'));
try {
  const lines = [
    '// Written by generate-pause.ts; do not edit.',
    '',
    '/** The first process of a sandbox as an ELF program, in Base64; see pause-amd64.S. */',
    'export const pausePrograms = {',
    ...targets.flatMap((target) => [`  ${target.architecture}:`, `    '${assemble(target, directory)}',`]),
    '} as const;',
    '',
  ];
  writeFileSync(join(import.meta.dirname, 'pause.gen.ts'), lines.join('\n'));
} finally {
  rmSync(directory, { recursive: true });
}
