import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, test } from 'node:test';
import { structureProblems } from './problems.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function plant(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'sheaf-structure-'));
  directories.push(root);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

const decision = ['Status', 'Context', 'Decision', 'Rejected options', 'Consequence', 'How it is checked']
  .map((section) => `\n## ${section}\n`)
  .join('');

test('a checkout with the right shape has no problems', () => {
  const root = plant({
    'packages/base/index.ts': '',
    'packages/features/addon/README.md': '',
    'packages/features/addon/plan.ts': '',
    'packages/features/addon/plan.test.ts': '',
    'packages/features/addon/reconcile.ts': '',
    'packages/features/addon/register.ts': '',
    'packages/features/workload/README.md': '',
    'packages/features/workload/register.ts': '',
    'packages/features/workload/job/plan.ts': '',
    'packages/features/workload/job/reconcile.ts': '',
    'packages/features/workload/job/register.ts': '',
    'packages/features/workload/job/job.test.ts': '',
    'packages/features/package.json': '{"exports":{"./*":"./*/register.ts"}}',
    'docs/adr/0001-record-decisions.md': decision,
  });
  assert.deepEqual(structureProblems(root), []);
});

test('each deviation is named with its path', () => {
  const root = plant({
    'packages/api/meta/deep/index.ts': '',
    'packages/base/utils.ts': '',
    'packages/base/someThing.ts': '',
    'packages/features/addon/plan.ts': '',
    'packages/features/addon/index.ts': '',
    'packages/features/workload/README.md': '',
    'packages/features/workload/job/plan.ts': '',
    'packages/features/workload/job/job.test.ts': '',
    'packages/features/package.json': '{"exports":{"./*":"./*.ts"}}',
    'docs/adr/0001-record-decisions.md': decision.replace('## Consequence', ''),
    'docs/adr/0001-again.md': decision,
  });
  assert.deepEqual(structureProblems(root), [
    'docs/adr/0001-record-decisions.md: the section "Consequence" is missing',
    'docs/adr: number 0001 is given twice',
    'packages/api/meta/deep/index.ts: index.ts is only for the edge of a package or of its folders',
    'packages/base/someThing.ts: "someThing.ts" is not kebab-case',
    'packages/base/utils.ts: "utils.ts" says nothing; name the thing',
    'packages/features/addon: README.md is missing',
    'packages/features/addon: reconcile.ts is missing',
    'packages/features/addon: register.ts is missing',
    'packages/features/addon: register.ts is the only edge',
    'packages/features/addon: there is no test',
    'packages/features/package.json: only register.ts files may be exported',
    'packages/features/workload/job: reconcile.ts is missing',
    'packages/features/workload/job: register.ts is missing',
    'packages/features/workload: register.ts is missing',
  ]);
});
