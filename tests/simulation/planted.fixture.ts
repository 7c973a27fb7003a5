import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Outcome, runSchedule, type SubjectName } from './subjects.ts';

export interface PlantedTests {
  readonly subject: SubjectName;
  /** From seed 1 on, within so many schedules each must be found. */
  readonly schedules: number;
  /** What is to be found, by the fault. */
  readonly findings: Readonly<Record<string, RegExp>>;
}

/** Tests of the tests: each fault that is put in is found, for what it is, and again by its seed; without it nothing is. */
export function itFindsPlanted({ subject, schedules, findings }: PlantedTests): void {
  for (const fault of Object.keys(findings))
    it(`${fault} is found, and its seed finds it again`, async () => {
      const first = await firstFinding(fault);
      assert.ok(first, 'no schedule has found it');
      const again = await runSchedule(subject, { seed: first.seed, planted: [fault] });
      assert.deepEqual(again.complaints, first.complaints);
      const without = await runSchedule(subject, { seed: first.seed });
      assert.deepEqual(without.complaints, []);
    });

  async function firstFinding(fault: string): Promise<Outcome | undefined> {
    for (let seed = 1; seed <= schedules; seed++) {
      const outcome = await runSchedule(subject, { seed, planted: [fault] });
      if (findings[fault]?.test(outcome.complaints.join('; '))) return outcome;
    }
    return undefined;
  }
}

/** The same seed takes the same steps, whatever was run before. */
export async function assertSameSteps(subject: SubjectName): Promise<void> {
  const seeds = [5, 6, 7, 8];
  const first: Outcome[] = [];
  for (const seed of seeds) first.push(await runSchedule(subject, { seed }));
  for (const seed of seeds.toReversed())
    assert.deepEqual(await runSchedule(subject, { seed }), first[seeds.indexOf(seed)]);
}
