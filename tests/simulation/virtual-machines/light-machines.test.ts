import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertSameSteps, itFindsPlanted } from '../planted.fixture.ts';
import { runSchedules } from '../pool.ts';
import type { SubjectName } from '../subjects.ts';
import type { PlantedFault } from './planted-faults.ts';

/** A long run of other seeds: `npm run simulate -- --subject light-machines`. */
const schedules = 400;
const plantedSchedules = 300;
const subject: SubjectName = 'light-machines';

describe('virtual machines, volumes and images under short random schedules', () => {
  it('never share a disk or lose one, and end where they are wanted or say what they wait for', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('take the same steps again for the same seed, whatever was run before', () => assertSameSteps(subject));
});

describe('faults planted into short schedules', () => {
  const findings: Partial<Record<PlantedFault, RegExp>> = {
    startsUnseen: /goes on without its instance|belongs to nobody|is left/,
    forgetsFinalizer: /goes on without its instance/,
    removesBeforeDetach: /was removed before its claim was gone|while machine .* has it open/,
    mixesFiles: /is written by/,
    opensBeneath: /is frozen, and machine .* writes to it/,
    hangsStarts: /does not say what for/,
  };
  itFindsPlanted({ subject, schedules: plantedSchedules, findings });
});
