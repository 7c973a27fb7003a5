import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Clock, disposable } from '@sheaf/base';
import { systemClock } from '../system/system-clock.ts';
import { DirectoryWatch } from './directory-watch.ts';

const root = await mkdtemp(join(tmpdir(), 'directory-watch-'));
after(() => rm(root, { recursive: true }));

/** Time that never passes: only what is watched can wake. */
const standing: Clock = { ...systemClock, schedule: () => disposable(() => undefined) };

describe('a watched directory', () => {
  it('wakes when a file comes that is waited for, and for no other', async () => {
    const watch = new DirectoryWatch(root, { clock: standing, names: ['awaited'] });
    assert.ok(watch.isWatching);
    const next = watch.next(1);
    await writeFile(join(root, 'other'), '');
    await writeFile(join(root, 'awaited'), '');
    await next;
    assert.deepEqual([watch.hasSeen('awaited'), watch.hasSeen('other')], [true, false]);
    watch.dispose();
  });

  it('wakes when the time is over, and when it is let go of', async () => {
    const timed = new DirectoryWatch(root, { clock: systemClock, names: ['never'] });
    await timed.next(1);
    timed.dispose();
    const released = new DirectoryWatch(root, { clock: standing, names: ['never'] });
    const next = released.next(1);
    released.dispose();
    await next;
    assert.equal(released.hasSeen('never'), false);
  });

  it('says where nothing can be told', () => {
    const watch = new DirectoryWatch(join(root, 'absent'), { clock: standing, names: ['awaited'] });
    assert.equal(watch.isWatching, false);
  });
});
