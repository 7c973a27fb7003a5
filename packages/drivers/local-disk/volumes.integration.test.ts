import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testVolumes } from '@sheaf/ports/volumes.contract';
import { whySkipped, withLocalDisk } from './local-disk.fixture.ts';

if (whySkipped) test('local disk volumes', { skip: whySkipped });
else testVolumes('local disk', withLocalDisk);

test('local disk: how often its room may be promised is asked each time', { skip: whySkipped }, async () => {
  let times = 1;
  await withLocalDisk(
    async ({ volumes }) => {
      const { signal } = new AbortController();
      const once = await volumes.space(signal);
      assert.ok(once.promisableBytes <= once.totalBytes);
      times = 1000;
      const often = await volumes.space(signal);
      assert.ok(often.promisableBytes > often.totalBytes);
    },
    { overCommitment: () => times },
  );
});
