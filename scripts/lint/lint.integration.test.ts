import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'sheaf-lint-'));
after(() => rmSync(directory, { recursive: true }));

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

/** A checkout whose sources are the planted violations, with the linter configured as in this one. */
function plantFixtures(): void {
  cpSync(join(import.meta.dirname, 'fixtures'), directory, { recursive: true });
  writeFileSync(
    join(directory, 'packages/client/long.ts'),
    `export const first = 1;\n${'// line\n'.repeat(400)}`,
  );
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  cpSync(join(root, 'tsconfig.json'), join(directory, 'tsconfig.json'));
  const config = readFileSync(join(root, '.oxlintrc.json'), 'utf8').replaceAll('"./', `"${root}/`);
  writeFileSync(join(directory, '.oxlintrc.json'), config);
}

function reported(): string[] {
  const run = spawnSync(
    join(root, 'node_modules/.bin/oxlint'),
    ['--type-aware', '-f', 'json', 'packages', 'apps'],
    {
      cwd: directory,
      encoding: 'utf8',
    },
  );
  const { diagnostics } = JSON.parse(run.stdout) as { diagnostics: Diagnostic[] };
  return diagnostics
    .map((found) => `${found.filename}:${found.labels[0]?.span.line ?? 1} ${found.code}`)
    .sort();
}

function expected(): string[] {
  const lines = [`packages/client/long.ts:401 eslint(max-lines)`];
  for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.startsWith('node_modules')) continue;
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .forEach((line, index) => {
        const rule = /expect: (\S+)/.exec(line)?.[1];
        if (rule !== undefined) lines.push(`${file}:${index + 1} ${rule}`);
      });
  }
  return lines.sort();
}

test('each rule of the house reports its planted violation, and nothing else', () => {
  plantFixtures();
  assert.deepEqual(reported(), expected());
});
