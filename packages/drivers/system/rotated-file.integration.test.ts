import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { RotatedFile } from './rotated-file.ts';
import { systemClock } from './system-clock.ts';

describe('RotatedFile', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'rotated-file-'));
  after(() => rm(parent, { recursive: true }));

  it('is put aside before it grows too large; old ones go', async () => {
    const directory = join(parent, 'audit');
    const path = join(directory, 'audit.log');
    let now = Date.parse('2026-01-01T00:00:00Z');
    const clock = { ...systemClock, now: () => (now += 1000) };
    const file = new RotatedFile({ path, clock, sizeBytes: 10, count: 2 });
    for (const line of ['one\n', 'two\n', 'three\n', 'four\n', 'five\n', 'sixsixsix\n', 'seven\n'])
      await file.append(line);
    assert.equal(await readFile(path, 'utf8'), 'seven\n');
    const aside = (await readdir(directory)).filter((name) => name !== 'audit.log').sort();
    assert.equal(aside.length, 2);
    assert.equal(await readFile(join(directory, aside[1] ?? ''), 'utf8'), 'sixsixsix\n');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    now += 31 * 24 * 60 * 60 * 1000;
    await file.append('eighteight\n');
    assert.equal((await readdir(directory)).length, 2);
    await file.close();
  });
});
