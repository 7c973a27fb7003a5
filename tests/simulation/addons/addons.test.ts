import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSchedules } from '../pool.ts';
import { runSchedule } from '../subjects.ts';

const subject = 'addons';
/** More by night: `npm run simulate -- --subject addons`. */
const schedules = 200;

describe('add-ons under random schedules', () => {
  it('come to what they say or name their fault, one operation at a time, and leave nothing', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('take the same steps again for the same seed', async () => {
    for (const seed of [5, 6]) {
      const first = await runSchedule(subject, { seed });
      assert.deepEqual(await runSchedule(subject, { seed }), first);
    }
  });
});

describe('faults planted into add-ons', () => {
  const planted = [
    { fault: 'comparesTimes', finding: /is to be on, and is Addon(Enabling|Updating|Disabling)/ },
    { fault: 'forgetsBinding', finding: /ClusterRoleBinding .* is left/ },
  ] as const;

  for (const { fault, finding } of planted)
    it(`${fault} is found, and its seed finds it again`, async () => {
      const { failed } = await runSchedules({ subject, schedules: 100, seed: 1, planted: [fault] });
      const first = failed.find(({ complaints }) => finding.test(complaints.join('; ')));
      assert.ok(first, `no schedule has found it: ${JSON.stringify(failed[0]?.complaints)}`);
      const again = await runSchedule(subject, { seed: first.seed, planted: [fault] });
      assert.deepEqual(again.complaints, first.complaints);
    });
});
