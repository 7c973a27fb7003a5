import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSchedules } from '../pool.ts';
import { type Outcome, runSchedule, type SubjectName } from '../subjects.ts';

/** A long run of other seeds: `npm run simulate -- --subject virtual-machines`. */
const schedules = 100;
const plantedSchedules = 200;
/** Of all deaths at all steps, each so manyth; all three deaths are among them. */
const stride = 47;
const subject: SubjectName = 'virtual-machines';

describe('virtual machines, volumes and images under random schedules', () => {
  it('never share a disk or lose one, and end where they are wanted or say what they wait for', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('take the same steps again for the same seed', async () => {
    for (const seed of [5, 6, 7]) {
      const first = await runSchedule(subject, { seed });
      const second = await runSchedule(subject, { seed });
      assert.deepEqual(second, first);
    }
  });
});

describe('a program that is killed in the middle of anything', () => {
  it('loses and leaves nothing, and its machines end where they are wanted', async () => {
    const whole = await runSchedule('killed-machines', { seed: Number.MAX_SAFE_INTEGER });
    assert.deepEqual(whole.complaints, []);
    // Every step in every way: `npm run simulate -- --subject killed-machines --schedules 2700`.
    for (let seed = 1; seed < 3 * whole.steps; seed += stride) {
      const { complaints } = await runSchedule('killed-machines', { seed });
      assert.deepEqual([seed, complaints], [seed, []]);
    }
  });
});

describe('faults planted into virtual machines', () => {
  const planted = [
    { fault: 'startsUnseen', finding: /goes on without its instance|belongs to nobody|is left/ },
    { fault: 'forgetsFinalizer', finding: /goes on without its instance/ },
    { fault: 'removesBeforeDetach', finding: /was removed before its claim was gone/ },
    { fault: 'losesEnds', finding: /does not go|is left/ },
  ] as const;

  for (const { fault, finding } of planted) {
    it(`${fault} is found, and its seed finds it again`, async () => {
      const first = await firstFinding(fault);
      assert.ok(first, 'no schedule has found it');
      assert.match(first.complaints.join('; '), finding);
      const again = await runSchedule(subject, { seed: first.seed, planted: [fault] });
      assert.deepEqual(again.complaints, first.complaints);
      const without = await runSchedule(subject, { seed: first.seed });
      assert.deepEqual(without.complaints, []);
    });
  }
});

async function firstFinding(fault: string): Promise<Outcome | undefined> {
  for (let seed = 1; seed <= plantedSchedules; seed++) {
    const outcome = await runSchedule(subject, { seed, planted: [fault] });
    if (outcome.complaints.length > 0) return outcome;
  }
  return undefined;
}
