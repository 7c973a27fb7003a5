import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runProgram } from '../../program.ts';
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

  it('logs -f: follows what is said, and what is said later', async () => {
    const [pod = ''] = await pods();
    const following = scene.start(`logs -f ${pod}`);
    await scene.until('the log is followed', () =>
      Promise.resolve(following.out().startsWith('serving as ')),
    );
    await scene.kubectl(`exec ${pod} -- /bin/sh -c`, 'echo later >/proc/1/fd/1');
    await scene.until('what came later is there', () =>
      Promise.resolve(following.out().endsWith('\nlater\n')),
    );
    assert.match(await scene.kubectl('logs -l app=web --prefix --tail=1'), /^\[pod\/web-\S+\/web\] /);
  });

  it('exec -it: a real terminal on both sides', async () => {
    const [pod = ''] = await pods();
    const { kubeconfig, directory } = scene.sheaf;
    // `script` gives kubectl a terminal of its own, of 91 columns.
    const inside = `stty rows 33 cols 91; kubectl exec -it ${pod} -- /bin/sh -c 'stty size; test -t 0 && test -t 1 && read line && echo "got $line"; exit 5'`;
    const { code, out } = await runProgram('script', ['-qec', inside, '/dev/null'], {
      env: { KUBECONFIG: kubeconfig, HOME: directory, SHELL: '/bin/sh' },
      input: 'typed\r',
    });
    assert.match(out, /(^|\n)33 91\r\n/);
    assert.match(out, /got typed\r\n/);
    assert.equal(code, 5);
  });

  it('port-forward: to a Deployment, and to a port of a Service', async () => {
    for (const what of ['deployment/web :8080', 'service/web :80']) {
      const forward = scene.start(`port-forward ${what}`);
      const port = (): string | undefined =>
        /Forwarding from 127\.0\.0\.1:(\d+) -> 8080/.exec(forward.out())?.[1];
      await scene.until(`port-forward ${what}`, () => Promise.resolve(port() !== undefined));
      const page = await fetch(`http://127.0.0.1:${port()}/index.html`);
      assert.equal(await page.text(), 'hello from a file\n');
      forward.process.kill('SIGINT');
      await forward.ended;
    }
  });

  it('cp: there and back', async () => {
    const [pod = ''] = await pods();
    const name = pod.slice('pod/'.length);
    const [there, back] = [join(scene.sheaf.directory, 'there'), join(scene.sheaf.directory, 'back')];
    await writeFile(there, 'carried\n'.repeat(10_000));
    await scene.kubectl(`cp ${there} ${name}:/tmp/carried`);
    await scene.kubectl(`cp ${name}:/tmp/carried ${back}`);
    assert.ok((await readFile(back)).equals(await readFile(there)));
  });

  it('describe and events tell what became of a pod and its Deployment', async () => {
    const [pod = ''] = await pods();
    const described = await scene.kubectl(`describe ${pod}`);
    for (const words of [
      /\nStatus: +Running\n/,
      /\nControlled By: +ReplicaSet\/web-/,
      /\n {4}Liveness: +exec \[\/bin\/sh -c :\]/,
      /\n {6}GREETING: +<set to the key 'GREETING' of config map 'pages'>/,
      / Normal +Scheduled +.* +default-scheduler +Successfully assigned default\/web-/,
      / Normal +Pulled +.* +kubelet +Container image "localhost\/test\/guest:1" already present on machine/,
      / Normal +Started +.* +kubelet +(Started container web|Container started)/,
    ])
      assert.match(described, words);
    assert.match(
      await scene.kubectl('describe deployment web'),
      /ScalingReplicaSet +.*deployment-controller +Scaled up replica set web-/,
    );
    assert.match(await scene.kubectl(`events --for ${pod}`), /\n.* Normal +Started +Pod\/web-/);
    assert.match(await scene.kubectl('describe service web'), /\nEndpoints: +(10\.42\.\d+\.\d+:8080,?){3}\n/);
  });

  it('delete: nothing is left on the host', () => scene.removeAll('deployments', 'services', 'configmaps'));
});
