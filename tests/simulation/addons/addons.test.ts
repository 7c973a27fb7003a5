import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSchedules } from '../pool.ts';
import { type Outcome, runSchedule, type SubjectName } from '../subjects.ts';
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

  it('take the same steps again for the same seed, whatever was run before', async () => {
    const seeds = [5, 6, 7, 8];
    const first: Outcome[] = [];
    for (const seed of seeds) first.push(await runSchedule(subject, { seed }));
    for (const seed of seeds.toReversed())
      assert.deepEqual(await runSchedule(subject, { seed }), first[seeds.indexOf(seed)]);
  });
});

describe('faults planted into add-ons', () => {
  const findings: Readonly<Record<PlantedFault, RegExp>> = {
    comparesTimes: /is to be on, and is Addon(Enabling|Updating|Disabling)/,
    forgetsBinding: /ClusterRoleBinding .* is left/,
    namesAnew: /two operations on the release .* at once/,
  };

  for (const [fault, finding] of Object.entries(findings))
    it(`${fault} is found, and its seed finds it again`, async () => {
      const first = await firstFinding(fault, finding);
      assert.ok(first, 'no schedule has found it');
      const again = await runSchedule(subject, { seed: first.seed, planted: [fault] });
      assert.deepEqual(again.complaints, first.complaints);
      const without = await runSchedule(subject, { seed: first.seed });
      assert.deepEqual(without.complaints, []);
    });
});

async function firstFinding(fault: string, finding: RegExp): Promise<Outcome | undefined> {
  for (let seed = 1; seed <= plantedSchedules; seed++) {
    const outcome = await runSchedule(subject, { seed, planted: [fault] });
    if (finding.test(outcome.complaints.join('; '))) return outcome;
  }
  return undefined;
}
