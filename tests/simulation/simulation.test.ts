import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSchedules } from './pool.ts';
import { runSchedule, type SubjectName } from './subjects.ts';

/** A long run of other seeds: `npm run simulate`. */
const schedules = 2500;
const subject: SubjectName = 'control-plane';

describe('the control plane under random schedules', () => {
  it('leaves no orphan, deletes nothing with a live owner, and ends or names every deletion', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('takes the same steps again for the same seed', async () => {
    for (const seed of [5, 6, 7]) {
      const first = await runSchedule(subject, { seed });
      const second = await runSchedule(subject, { seed });
      assert.deepEqual(second, first);
    }
  });
});

describe('faults planted into garbage collection', () => {
  const planted = [
    { fault: 'trustsGraph', finding: /was deleted, but its owner .* lives/ },
    { fault: 'deletesUnseen', finding: /was deleted, (and had no owners|but its owner .* lives)/ },
    { fault: 'ignoresUid', finding: /is an orphan|refers to one that is gone/ },
  ] as const;

  for (const { fault, finding } of planted) {
    it(`${fault} is found, and its seed finds it again`, async () => {
      const { failed } = await runSchedules({ subject, schedules: 160, seed: 1, planted: [fault] });
      const [first] = failed;
      assert.ok(first, 'no schedule has found it');
      assert.match(first.complaints.join('; '), finding);
      const again = await runSchedule(subject, { seed: first.seed, planted: [fault] });
      assert.deepEqual(again.complaints, first.complaints);
      const without = await runSchedule(subject, { seed: first.seed });
      assert.deepEqual(without.complaints, []);
    });
  }
});
