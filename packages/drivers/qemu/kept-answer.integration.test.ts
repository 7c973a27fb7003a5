import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptAnswer } from './kept-answer.ts';

test('an answer that several find at once is kept whole', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-answer-'));
  try {
    const kept = { path: join(directory, 'answer.json'), key: 'k', isFresh: false };
    const found = await Promise.all(
      Array.from({ length: 20 }, (_, index) => keptAnswer(kept, () => Promise.resolve({ index }))),
    );
    assert.equal(found.length, 20);
    const { index } = await keptAnswer<{ index: number }>(kept, () =>
      assert.fail('it is looked for although it is kept'),
    );
    assert.ok(index >= 0 && index < 20);
    assert.deepEqual(await readdir(directory), ['answer.json']);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('an answer that may change is looked for again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-answer-'));
  try {
    const path = join(directory, 'answer.json');
    const kept = { path, key: 'k', isFresh: false, holds: (isMended: boolean) => isMended };
    assert.equal(await keptAnswer(kept, () => Promise.resolve(false)), false);
    assert.equal(await keptAnswer(kept, () => Promise.resolve(true)), true);
    assert.equal(await keptAnswer(kept, () => Promise.resolve(false)), true);
  } finally {
    await rm(directory, { recursive: true });
  }
});
