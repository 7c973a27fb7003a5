import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertSameSteps, itFindsPlanted } from '../planted.fixture.ts';
import { runSchedules } from '../pool.ts';
import { runSchedule, type SubjectName } from '../subjects.ts';
import type { PlantedFault } from './planted-faults.ts';

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

  it('take the same steps again for the same seed, whatever was run before', () => assertSameSteps(subject));
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
  const findings: Partial<Record<PlantedFault, RegExp>> = {
    startsUnseen: /goes on without its instance|belongs to nobody|is left/,
    forgetsFinalizer: /goes on without its instance/,
    removesBeforeDetach: /was removed before its claim was gone/,
    losesEnds: /does not go|is left/,
  };
  itFindsPlanted({ subject, schedules: plantedSchedules, findings });
});
