import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RandomUse } from './random-use.ts';

const seeds = 12;

describe('whatever users, network and process do, storage comes to its goal or a named fault, and nothing is left', {
  timeout: 300_000,
}, () => {
  it(`for ${seeds} seeds`, async () => {
    for (let seed = 1; seed <= seeds; seed++)
      assert.deepEqual(await new RandomUse(seed).run(), [], `seed ${seed}`);
  });
});
