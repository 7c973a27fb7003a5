import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mirror } from '../mirrored-server.ts';
import { assertSameSteps, itFindsPlanted } from '../planted.fixture.ts';
import { runSchedules } from '../pool.ts';
import { runSchedule, type SubjectName } from '../subjects.ts';
import { belongings, ground } from './kinds.ts';
import type { PlantedFault } from './planted-faults.ts';
import { runMirroredSchedule } from './schedule.ts';

/** Long runs of other seeds: `npm run simulate -- --subject light-workloads`, or `--subject workloads`. */
const schedules = 2000;
const longSchedules = 30;
const mirroredSchedules = 6;
const plantedSchedules = 1500;
const subject: SubjectName = 'light-workloads';
const found = [1_018_661, 1_059_525, 1_063_921, 2_008_826, 2_058_655, 2_134_588, 2_307_449, 2_718_315];

describe('workloads under random schedules', () => {
  it('have as many pods as they ask for and never more than they allow, and end as they are wanted', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('do so on the API server itself', async () => {
    const { failed } = await runSchedules({ subject: 'workloads', schedules: longSchedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('find nothing any more where long runs have found something', async () => {
    for (const seed of found)
      assert.deepEqual([seed, (await runSchedule(subject, { seed })).complaints], [seed, []]);
  });

  it('take the same steps again for the same seed, whatever was run before', () => assertSameSteps(subject));
});

describe('the lean server under workloads', () => {
  it('lets in, changes, refuses and removes what the API server does, in the same words', async () => {
    let writes = 0;
    for (let seed = 1; seed <= mirroredSchedules; seed++) {
      const mirror = new Mirror(ground);
      const { complaints } = await runMirroredSchedule({ seed }, mirror, belongings);
      assert.deepEqual([seed, complaints, mirror.differences], [seed, [], []]);
      writes += mirror.writes;
    }
    assert.ok(writes > 50 * mirroredSchedules, `only ${writes} writes were compared`);
  });
});

describe('faults planted into workloads', () => {
  const findings: Readonly<Record<PlantedFault, RegExp>> = {
    overscales: /the replica sets of .* ask for \d+ pods of \d+/,
    skipsOrdinal: /was made before .* was ready/,
    mistakesNode: /has \d+ pods on node one|has \d and \d pods on its nodes/,
    forgetsFinalizer: /pods at work|successes of|has not ended/,
    namesAnew: /have one turn/,
    hastens: /is gone while its containers run/,
    losesEnds: /does not go|is left/,
  };
  itFindsPlanted({ subject, schedules: plantedSchedules, findings });
});
