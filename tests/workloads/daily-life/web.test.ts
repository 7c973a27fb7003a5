import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { engineContainers } from '../container-remains.ts';
import { DailyLife, skip } from './scene.ts';

describe('a web Deployment of three, as its users keep it', { skip }, () => {
  let scene: DailyLife;
  before(async () => {
    scene = await DailyLife.begin();
  });
  after(() => scene.end());

  const pods = (): Promise<readonly string[]> => scene.podNames('web');
  const greeting = async (): Promise<string> =>
    await scene.kubectl('exec deployment/web -- /bin/sh -c', 'echo $GREETING');

  it('apply and rollout status: three pods come up, ready', async () => {
    assert.equal(
      await scene.apply('web.yaml'),
      [
        'configmap/pages created',
        'service/web created',
        'poddisruptionbudget.policy/web created',
        'deployment.apps/web created\n',
      ].join('\n'),
    );
    assert.match(await scene.rolledOut('deployment/web'), /deployment "web" successfully rolled out\n$/);
    assert.match(await scene.kubectl('get deployment web'), /\nweb +3\/3 +3 +3 +\S+\n$/);
    assert.equal((await pods()).length, 3);
    assert.equal(await greeting(), 'hello from the environment\n');
  });

  it('the Service leads to them by its name', async () => {
    const [first = ''] = await pods();
    const page = await scene.kubectl(`exec ${first} -- wget -q -O - http://web/index.html`);
    assert.equal(page, 'hello from a file\n');
  });

  it('rollout: a new template replaces all pods, and the history tells of it', async () => {
    const earlier = await pods();
    await scene.kubectl('set env deployment/web GREETING=second');
    assert.match(
      await scene.rolledOut('deployment/web'),
      /^Waiting for deployment .*\n(.*\n)*deployment "web" successfully rolled out\n$/,
    );
    assert.equal(await greeting(), 'second\n');
    await scene.until('the pods before are gone', async () =>
      (await pods()).every((name) => !earlier.includes(name)),
    );
    assert.match(
      await scene.kubectl('rollout history deployment/web'),
      /REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n/,
    );
  });

  it('a template that cannot run takes nothing away, and undo ends it', async () => {
    await scene.kubectl('set image deployment/web web=localhost/test/none:1');
    assert.match(
      await scene.refused('rollout status deployment/web --timeout=3s'),
      /timed out waiting for the condition/,
    );
    assert.match(await scene.kubectl('get deployment web'), /\nweb +3\/3 +1 +3 +\S+\n$/);
    await scene.kubectl('rollout undo deployment/web');
    await scene.rolledOut('deployment/web');
    assert.equal(await greeting(), 'second\n');
    await scene.kubectl('rollout undo deployment/web --to-revision=1');
    await scene.rolledOut('deployment/web');
    assert.equal(await greeting(), 'hello from the environment\n');
  });

  it('scale: up and down again', async () => {
    await scene.kubectl('scale deployment/web --replicas=5');
    await scene.waited('deployment/web --for=jsonpath={.status.readyReplicas}=5');
    await scene.kubectl('scale deployment/web --replicas=3');
    await scene.waited('deployment/web --for=jsonpath={.status.replicas}=3');
    await scene.until('surplus pods are gone', async () => (await pods()).length === 3);
  });

  it('a container that is killed is started again in its pod, and tells what it had said', async () => {
    const [pod = ''] = await pods();
    const victim = (await engineContainers(scene.sheaf.directory)).find(
      ({ title, isRunning }) => isRunning && title === `default/${pod.slice('pod/'.length)}/web`,
    );
    assert.ok(victim && victim.processId > 1);
    process.kill(victim.processId, 'SIGKILL');
    await scene.waited(`${pod} --for=jsonpath={.status.containerStatuses[0].restartCount}=1`);
    await scene.waited(`${pod} --for=condition=Ready`);
    const last = '{.status.containerStatuses[0].lastState.terminated.exitCode}';
    assert.equal(await scene.kubectl(`get ${pod} -o jsonpath=${last}`), '137');
    assert.match(await scene.kubectl(`logs ${pod} --previous`), /^serving as /);
  });

  it('a pod that is deleted is replaced', async () => {
    const [pod = ''] = await pods();
    assert.match(await scene.kubectl(`delete ${pod}`), /^pod "web-\S+" deleted/);
    await scene.rolledOut('deployment/web');
    assert.ok(!(await pods()).includes(pod));
  });

  it('drain: the budget is kept, the node is empty, and after uncordon they are back', async () => {
    const node = (await scene.kubectl('get nodes -o name')).trim().replace('node/', '');
    const said = await scene
      .kubectl(`drain ${node} --ignore-daemonsets --delete-emptydir-data --timeout=10s`)
      .catch((error: Error) => error.message);
    // Of three pods two may go; the third would only if there were another node.
    assert.match(said, /Cannot evict pod as it would violate the pod's disruption budget/);
    await scene.kubectl('delete pdb web');
    assert.match(
      await scene.kubectl(`drain ${node} --ignore-daemonsets --delete-emptydir-data --timeout=180s`),
      new RegExp(`node/${node} drained\n$`),
    );
    await scene.until('the new pods wait', async () => {
      const [pod = ''] = await pods();
      const waits = await scene.kubectl(`describe ${pod}`);
      return /FailedScheduling .*1 node\(s\) were unschedulable/.test(waits);
    });
    await scene.kubectl(`uncordon ${node}`);
    await scene.rolledOut('deployment/web');
  });

  it('delete: nothing is left on the host', () => scene.removeAll('deployments', 'services', 'configmaps'));
});
