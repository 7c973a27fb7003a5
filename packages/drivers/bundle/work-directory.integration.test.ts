import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import { currentBootId, identityOf } from '../qemu/process-identity.ts';
import { makeWorkDirectory } from './work-directory.ts';

it('what makers of bundles that were killed have left goes; what others work in, and what is not ours to judge, stays', async () => {
  const place = await mkdtemp(join(tmpdir(), 'sheaf-work-directory-'));
  const bootId = currentBootId();
  try {
    const killed = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(killed, 'spawn');
    const identity = identityOf(killed.pid ?? 0, bootId);
    const left = `.sheaf-bundle-${identity?.pid}-${identity?.startTime}-${bootId}-aaaaaa`;
    const elsewhere = `.sheaf-bundle-1-2-${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}-bbbbbb`;
    for (const name of [left, elsewhere, '.sheaf-bundle-mine']) {
      await mkdir(join(place, name));
      await writeFile(join(place, name, 'part'), 'part');
    }
    const first = await makeWorkDirectory(place);
    const kept = ['.sheaf-bundle-mine', basename(first), elsewhere];
    assert.deepEqual((await readdir(place)).toSorted(), [...kept, left].toSorted());
    const gone = once(killed, 'exit');
    killed.kill('SIGKILL');
    await gone;
    const second = await makeWorkDirectory(place);
    assert.deepEqual((await readdir(place)).toSorted(), [...kept, basename(second)].toSorted());
  } finally {
    await rm(place, { recursive: true, force: true });
  }
});
