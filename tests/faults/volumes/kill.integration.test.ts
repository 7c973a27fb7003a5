import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whySkipped } from '../../../packages/drivers/local-disk/local-disk.fixture.ts';
import { runKills } from './kill.ts';

test('volumes and images survive a process that is killed at any moment', {
  skip: whySkipped,
}, async (context) => {
  const seed = 1;
  const summary = await runKills(50, seed);
  context.diagnostic(`seed ${seed}: ${JSON.stringify(summary)}`);
  assert.ok(summary.acknowledged > 60, 'hardly anything was done between the kills');
  assert.ok(summary.interrupted > 10, 'hardly anything was interrupted');
});
