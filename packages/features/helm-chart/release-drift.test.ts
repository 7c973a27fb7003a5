import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { releaseHash, releaseHashLabel, releaseRevisionLabel } from '@sheaf/ports';
import { chart, factsOf } from './chart-facts.fixture.ts';
import { jobHash, operationJob } from './chart-job.ts';
import { planChartStatus } from './chart-status.ts';
import { planChart } from './plan.ts';
import { releaseDrift, releaseOfRecord } from './release-drift.ts';

const planned = operationJob(factsOf(), 'install');
const job = {
  ...planned,
  metadata: { ...planned.metadata, uid: 'install' },
  status: { conditions: [{ type: 'Complete', status: 'True' as const }] },
};
const own = { [releaseHashLabel]: releaseHash(jobHash(job) ?? '') };

function record(version: number, status: string, labels: Readonly<Record<string, string>> = own): KubeObject {
  const all = { ...labels, owner: 'helm', name: 'web', version: String(version), status };
  return { metadata: { namespace: 'default', name: `sh.helm.release.v1.web.v${version}`, labels: all } };
}

describe('what becomes of a release after its Job', () => {
  const other = { [releaseHashLabel]: 'ABC' };
  const cases: readonly [string, readonly KubeObject[], string | undefined][] = [
    ['it is as the Job left it', [record(1, 'superseded', other), record(2, 'deployed')], undefined],
    ['an image of its own has made it', [record(1, 'deployed', {})], undefined],
    [
      'somebody has uninstalled it',
      [],
      'ReleaseRemoved: its release web in the namespace default is not there',
    ],
    [
      'somebody went back',
      [record(2, 'superseded'), record(10, 'deployed', other), record(9, 'superseded')],
      'ReleaseChanged: its release web in the namespace default is of other values or of another version in its revision 10',
    ],
    [
      'somebody has changed it, and Helm has kept the labels',
      [record(1, 'superseded'), record(2, 'deployed', { ...own, [releaseRevisionLabel]: '1' })],
      'ReleaseChanged: its release web in the namespace default is of other values or of another version in its revision 2',
    ],
    [
      'it is the revision that the Job has made',
      [record(2, 'deployed', { ...own, [releaseRevisionLabel]: '2' })],
      undefined,
    ],
    [
      'somebody has tried something',
      [record(1, 'deployed'), record(2, 'failed')],
      'ReleaseChanged: its release web in the namespace default is failed in its revision 2',
    ],
  ];
  for (const [name, records, words] of cases)
    it(name, () => {
      const found = releaseDrift({ chart, job }, records);
      const told = found ? `${found.reason}: ${found.text}` : undefined;
      assert.equal(told?.slice(0, words?.length), words);
    });

  it('is told of the chart, which is not touched', () => {
    const facts = factsOf({ jobs: [job], drift: releaseDrift({ chart, job }, []) });
    const step = planChart(facts);
    assert.equal(step.action, 'none');
    const deployed = planChartStatus(facts, step)?.status?.conditions?.find(
      ({ type }) => type === 'Deployed',
    );
    assert.deepEqual([deployed?.status, deployed?.reason], ['False', 'ReleaseRemoved']);
    assert.match(deployed?.message ?? '', /; needs someone: set the annotation sheaf\.dev\/retry/);
  });

  it('is read from the objects of Helm alone', () => {
    assert.equal(releaseOfRecord(record(1, 'deployed')), 'web');
    assert.equal(releaseOfRecord({ metadata: { name: 'web', labels: { name: 'web' } } }), undefined);
  });
});
