import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mirror } from '../mirrored-server.ts';
import { runSchedule } from './schedule.ts';
import { ground } from './servers.ts';

const schedules = 6;

describe('the lean server under virtual machines', () => {
  it('lets in, changes, refuses and removes what the API server does, in the same words', async () => {
    let writes = 0;
    for (let seed = 1; seed <= schedules; seed++) {
      const mirror = new Mirror(ground);
      const { complaints } = await runSchedule({ seed, servers: (extend) => mirror.servers(extend) });
      assert.deepEqual([seed, complaints, mirror.differences], [seed, [], []]);
      writes += mirror.writes;
    }
    assert.ok(writes > 50 * schedules, `only ${writes} writes were compared`);
  });
});
