import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './fuzz.ts';

test("malformed requests are the client's fault, whatever they look like", async () => {
  for (const seed of [1, 2, 3]) {
    const { failures, statuses } = await fuzz({ seed, requests: 1500 });
    assert.deepEqual(failures, []);
    assert.ok((statuses.get(201) ?? 0) > 20, 'some of the requests must get through');
  }
});
