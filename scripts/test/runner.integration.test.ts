import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ReportLine } from './reporter.ts';

const directory = mkdtempSync(join(tmpdir(), 'sheaf-runner-'));
after(() => rmSync(directory, { recursive: true }));

/** What the reporter writes about a test file with this text. */
function report(text: string): ReportLine[] {
  const file = join(directory, 'planted.test.ts');
  writeFileSync(file, `import { test } from 'node:test';\n${text}\n`);
  const env = { ...process.env };
  delete env['NODE_TEST_CONTEXT'];
  const reporter = `--test-reporter=${join(import.meta.dirname, 'reporter.ts')}`;
  const run = spawnSync(process.execPath, ['--test', reporter, file], { encoding: 'utf8', env });
  return run.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ReportLine);
}

function summary(lines: readonly ReportLine[]): ReportLine | undefined {
  return lines.find((line) => line.type === 'summary');
}

test('tests are counted as passed, failed and skipped, with reasons and places', () => {
  const lines = report(`
    test('good', () => {});
    test('bad', () => { throw new Error('because'); });
    test('absent', { skip: 'no kubectl here' }, () => {});
  `);
  assert.deepEqual(summary(lines), { type: 'summary', passed: 1, failed: 1, skipped: 1 });
  const failed = lines.find((line) => line.type === 'failed');
  assert.match(
    `${failed?.name} ${failed?.place} ${failed?.error}`,
    /^bad .*planted\.test\.ts:4 Error: because/,
  );
  const skipped = lines.find((line) => line.type === 'skipped');
  assert.equal(`${skipped?.name}: ${skipped?.reason}`, 'absent: no kubectl here');
});

test('a file that breaks off counts as failed', () => {
  assert.deepEqual(summary(report('process.exit(3);')), {
    type: 'summary',
    passed: 0,
    failed: 1,
    skipped: 0,
  });
});

test('only the subtest that failed is shown, not the tests around it', () => {
  const lines = report(
    `test('outer', async (t) => { await t.test('inner', () => { throw new Error('x'); }); });`,
  );
  const shown = lines.filter((line) => line.type === 'failed').map((line) => line.name);
  assert.deepEqual(shown, ['inner']);
});
