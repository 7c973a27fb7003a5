import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKills } from './kill.ts';

test('a store that is killed keeps what it acknowledged, and nothing it refused', async (context) => {
  const summary = await runKills(5, 7);
  context.diagnostic(JSON.stringify(summary));
  assert.ok(summary.acknowledged > 0);
});
