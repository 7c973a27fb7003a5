import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runServerKills } from './kill.ts';

test('a killed server has every acknowledged write when it is back, and watches resume without a gap', async () => {
  const { kills, acknowledged, watched } = await runServerKills(4, 7);
  assert.equal(kills, 4);
  assert.ok(acknowledged > 0 && watched > 0, 'nothing was written');
});
