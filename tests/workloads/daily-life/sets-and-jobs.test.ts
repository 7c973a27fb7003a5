import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DailyLife, skip } from './scene.ts';

describe('sets and jobs, as their users keep them', { skip }, () => {
  let scene: DailyLife;
  before(async () => {
    scene = await DailyLife.begin();
  });
  after(() => scene.end());

  const lives = (pod: string): Promise<string> => scene.kubectl(`exec ${pod} -- cat /data/lives`);

  it('a StatefulSet: names, order and volumes of their own', async () => {
    await scene.apply('sets.yaml');
    assert.match(
      await scene.rolledOut('statefulset/db'),
      /statefulset rolling update complete 2 pods|partitioned roll out complete/,
    );
    assert.deepEqual(await scene.podNames('db'), ['pod/db-0', 'pod/db-1']);
    assert.equal(await lives('db-0'), 'db-0\n');
    assert.equal(await lives('db-1'), 'db-1\n');
    assert.match(
      await scene.kubectl('get pvc'),
      /\ndata-db-0 +Bound +pvc-\S+ +\S+ +RWO .*\ndata-db-1 +Bound /,
    );
    assert.equal(await scene.kubectl('exec db-0 -- wget -q -O - http://db-1.db:8080/lives'), 'db-1\n');
  });

  it('a pod that is deleted comes back by its name, to its volume', async () => {
    await scene.kubectl('delete pod db-1');
    await scene.rolledOut('statefulset/db');
    await scene.waited('pod/db-1 --for=condition=Ready');
    assert.equal(await lives('db-1'), 'db-1\ndb-1\n');
  });

  it('scaled down, the volume stays; scaled up, the pod finds it', async () => {
    await scene.kubectl('scale statefulset/db --replicas=1');
    await scene.kubectl('wait pod/db-1 --for=delete --timeout=180s');
    await scene.kubectl('scale statefulset/db --replicas=2');
    await scene.rolledOut('statefulset/db');
    assert.equal(await lives('db-1'), 'db-1\ndb-1\ndb-1\n');
  });

  it('a generic ephemeral volume is made with its pod and goes with it', async () => {
    await scene.apply('own-volume.yaml');
    await scene.waited('pod/sorter --for=condition=Ready');
    assert.equal(await scene.kubectl('exec sorter -- cat /work/part'), 'sorted\n');
    assert.match(await scene.kubectl('get pvc -l of=sorter'), /\nsorter-work +Bound +pvc-/);
    await scene.kubectl('delete pod sorter');
    await scene.until('its volume is gone', async () => {
      const volumes = await scene.kubectl('get pv -o', 'jsonpath={.items[*].spec.claimRef.name}');
      return !volumes.split(' ').includes('sorter-work');
    });
  });

  it('rollout restart and undo of sets', async () => {
    await scene.kubectl('rollout restart statefulset/db daemonset/agent');
    await scene.rolledOut('statefulset/db');
    await scene.rolledOut('daemonset/agent');
    assert.equal(await lives('db-0'), 'db-0\ndb-0\n');
    await scene.kubectl('rollout undo daemonset/agent');
    assert.match(await scene.rolledOut('daemonset/agent'), /daemon set "agent" successfully rolled out/);
  });

  it('a DaemonSet has a pod on the node', async () => {
    assert.match(await scene.kubectl('get daemonset agent'), /\nagent +1 +1 +1 +1 +1 /);
    assert.equal(await scene.kubectl('logs daemonset/agent'), 'watching\n');
  });

  it('a Job ends as often as it should, and tells what it found', async () => {
    await scene.waited('job/sum --for=condition=complete');
    assert.match(await scene.kubectl('get job sum'), /\nsum +Complete +2\/2 /);
    assert.equal(await scene.kubectl('logs job/sum'), '42\n');
    assert.match(await scene.kubectl('describe job sum'), /Completed +.*job-controller +Job completed/);
  });

  it('a drained node keeps the pod of the DaemonSet alone', async () => {
    const node = (await scene.kubectl('get nodes -o name')).trim();
    await scene.kubectl(`drain ${node} --ignore-daemonsets --delete-emptydir-data --timeout=180s`);
    assert.match(await scene.kubectl('get daemonset agent'), /\nagent +1 +1 +1 /);
    await scene.kubectl(`uncordon ${node}`);
    await scene.rolledOut('statefulset/db');
    assert.match(await lives('db-0'), /^(db-0\n){3}$/);
  });

  it('a CronJob runs by its clock, and when it is asked', async () => {
    await scene.kubectl('create job now --from=cronjob/tick');
    await scene.waited('job/now --for=condition=complete');
    assert.equal(await scene.kubectl('logs job/now'), 'tick\n');
    await scene.until('a minute has passed', async () =>
      /job\.batch\/tick-\d+/.test(await scene.kubectl('get jobs -o name')),
    );
    await scene.kubectl('patch cronjob tick -p', '{"spec":{"suspend":true}}');
    const [job = ''] = (await scene.kubectl('get jobs -o name'))
      .split('\n')
      .filter((name) => name.includes('tick-'));
    await scene.waited(`${job} --for=condition=complete`);
    assert.match(
      await scene.kubectl('events --for cronjob/tick'),
      /SuccessfulCreate +CronJob\/tick +Created job tick-\d+/,
    );
  });

  it('delete: nothing is left on the host, and the volumes stay until they are deleted', async () => {
    await scene.removeAll('cronjobs', 'jobs', 'statefulsets', 'daemonsets', 'services');
    assert.match(await scene.kubectl('get pvc'), /\ndata-db-0 +Bound /);
    await scene.kubectl('delete pvc --all --timeout=180s');
    await scene.until('the volumes are gone', async () => (await scene.kubectl('get pv -o name')) === '');
  });
});
