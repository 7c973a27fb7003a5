import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertSameSteps, itFindsPlanted } from '../planted.fixture.ts';
import { runSchedules } from '../pool.ts';
import type { SubjectName } from '../subjects.ts';
import type { PlantedFault } from './planted-faults.ts';

const subject: SubjectName = 'addons';
/** More by night: `npm run simulate -- --subject addons`. */
const schedules = 400;
const plantedSchedules = 200;

describe('add-ons under random schedules', () => {
  it('come to what they say or name their fault, one operation at a time, and leave nothing', async () => {
    const { failed } = await runSchedules({ subject, schedules, seed: 1 });
    assert.deepEqual(failed, []);
  });

  it('take the same steps again for the same seed, whatever was run before', () => assertSameSteps(subject));
});

describe('faults planted into add-ons', () => {
  const findings: Readonly<Record<PlantedFault, RegExp>> = {
    comparesTimes: /is to be on, and is Addon(Enabling|Updating|Disabling)/,
    forgetsBinding: /ClusterRoleBinding .* is left/,
    namesAnew: /two operations on the release .* at once/,
  };
  itFindsPlanted({ subject, schedules: plantedSchedules, findings });
});
