import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { logFiles } from './log-files.ts';
import { logPath } from './log-path.ts';

const rotations = 60;

describe('the parts of a log', () => {
  it('are listed once each and without a gap, also while they are put aside', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'parts-'));
    try {
      const made: number[] = [];
      let isOver = false;
      const rotating = (async () => {
        for (let rotation = 0; rotation < rotations; rotation++) {
          for (let part = rotation - 1; part >= 0; part--)
            await rename(logPath(directory, part), logPath(directory, part + 1));
          await writeFile(logPath(directory, 0), '');
          made.push((await stat(logPath(directory, 0))).ino);
          await pass(5);
        }
      })().finally(() => (isOver = true));
      const lists: (readonly number[])[] = [];
      while (!isOver) lists.push((await logFiles(directory)).map(({ inode }) => inode));
      await rotating;
      for (const list of lists) assert.deepEqual(list, made.slice(0, list.length));
      assert.deepEqual(
        (await logFiles(directory)).map(({ inode }) => inode),
        made,
      );
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
