import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openTarget, type Target } from '../target.ts';
import { findKubectl } from '../tools.ts';
import { runTranscript } from '../transcript/run.ts';
import { readTranscript } from '../transcript/transcript.ts';

// SHEAF_TEST_THEMES: only the transcripts whose file name contains one of these comma-separated words.
const wanted = (process.env['SHEAF_TEST_THEMES'] ?? '').split(',').filter((word) => word !== '');
const directory = fileURLToPath(new URL('./transcripts/', import.meta.url));
const names = (await readdir(directory))
  .filter((name) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
  .toSorted();
const kubectl = await findKubectl();

describe('kubectl', { skip: 'missing' in kubectl ? kubectl.missing : false }, () => {
  let target: Target | undefined;
  before(async () => {
    target = await openTarget();
  });
  after(() => target?.stop());

  for (const name of names) {
    test(name.replace('.yaml', ''), async (theme) => {
      assert.ok(target !== undefined && 'path' in kubectl);
      const transcript = await readTranscript(`${directory}${name}`);
      await runTranscript(theme, { target, transcript, tools: { kubectl: kubectl.path } });
    });
  }
});
