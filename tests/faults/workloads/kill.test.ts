import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containersAreMissing } from '../../workloads/workload-host.ts';
import { runWorkloadKills } from './kill.ts';

test('workloads come to their end under a Sheaf that is killed in the middle, nothing runs twice, and nothing is left', {
  skip: containersAreMissing ?? false,
}, async (context) => {
  const summary = await runWorkloadKills(3, 1);
  context.diagnostic(JSON.stringify(summary));
  assert.equal(summary.kills, 3);
});
