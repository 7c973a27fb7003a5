import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSchedules } from '../pool.ts';
import { type Outcome, runSchedule, type SubjectName } from '../subjects.ts';

/** A long run of other seeds: `npm run simulate -- --subject light-machines`. */
const schedules = 400;
const plantedSchedules = 300;
const subject: SubjectName = 'light-machines';

describe('virtual machines, volumes and images under short random schedules', () => {
  it('never share a disk or lose one, and end where they are wanted or say what they wait for', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('take the same steps again for the same seed, whatever was run before', async () => {
    const seeds = [5, 6, 7, 8];
    const first: Outcome[] = [];
    for (const seed of seeds) first.push(await runSchedule(subject, { seed }));
    for (const seed of seeds.toReversed())
      assert.deepEqual(await runSchedule(subject, { seed }), first[seeds.indexOf(seed)]);
  });
});

describe('faults planted into short schedules', () => {
  const planted = [
    { fault: 'startsUnseen', finding: /goes on without its instance|belongs to nobody|is left/ },
    { fault: 'forgetsFinalizer', finding: /goes on without its instance/ },
    {
      fault: 'removesBeforeDetach',
      finding: /was removed before its claim was gone|while machine .* has it open/,
    },
    { fault: 'mixesFiles', finding: /is written by/ },
    { fault: 'opensBeneath', finding: /is frozen, and machine .* writes to it/ },
    { fault: 'hangsStarts', finding: /does not say what for/ },
  ] as const;

  for (const { fault, finding } of planted) {
    it(`${fault} is found, and its seed finds it again`, async () => {
      const first = await firstFinding(fault, finding);
      assert.ok(first, 'no schedule has found it');
      const again = await runSchedule(subject, { seed: first.seed, planted: [fault] });
      assert.deepEqual(again.complaints, first.complaints);
      const without = await runSchedule(subject, { seed: first.seed });
      assert.deepEqual(without.complaints, []);
    });
  }
});

async function firstFinding(fault: string, finding: RegExp): Promise<Outcome | undefined> {
  for (let seed = 1; seed <= plantedSchedules; seed++) {
    const outcome = await runSchedule(subject, { seed, planted: [fault] });
    if (finding.test(outcome.complaints.join('; '))) return outcome;
  }
  return undefined;
}
