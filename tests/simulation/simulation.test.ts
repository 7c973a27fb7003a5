import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertSameSteps, itFindsPlanted } from './planted.fixture.ts';
import { runSchedules } from './pool.ts';
import type { SubjectName } from './subjects.ts';

/** A long run of other seeds: `npm run simulate`. */
const schedules = 2500;
const plantedSchedules = 160;
const subject: SubjectName = 'control-plane';

describe('the control plane under random schedules', () => {
  it('leaves no orphan, deletes nothing with a live owner, and ends or names every deletion', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('takes the same steps again for the same seed, whatever was run before', () => assertSameSteps(subject));
});

describe('faults planted into garbage collection', () => {
  const findings = {
    trustsGraph: /was deleted, but its owner .* lives/,
    deletesUnseen: /was deleted, (and had no owners|but its owner .* lives)/,
    ignoresUid: /is an orphan|refers to one that is gone/,
  };
  itFindsPlanted({ subject, schedules: plantedSchedules, findings });
});
