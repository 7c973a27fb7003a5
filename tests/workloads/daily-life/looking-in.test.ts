import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runProgram } from '../../program.ts';
import { guestTag } from '../workload-host.ts';
import { DailyLife, skip } from './scene.ts';

describe('looking into a web Deployment, as its users do', { skip }, () => {
  let scene: DailyLife;
  before(async () => {
    scene = await DailyLife.begin();
    await scene.apply('web.yaml');
    await scene.rolledOut('deployment/web');
  });
  after(() => scene.end());

  const pods = (): Promise<readonly string[]> => scene.podNames('web');

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
    // `script` gives kubectl a terminal of its own; its size comes a moment after the process has begun.
    const inside = `stty rows 33 cols 91; kubectl exec -it ${pod} -- /bin/sh -c 'until [ "$(stty size 2>/dev/null)" ]; do sleep 1; done; stty size; test -t 0 && test -t 1 && read line && echo "got $line"; exit 5'`;
    const { code, out } = await runProgram('script', ['-qec', inside, '/dev/null'], {
      env: { KUBECONFIG: kubeconfig, HOME: directory, SHELL: '/bin/sh' },
      input: 'typed\r',
    });
    assert.match(out, /(^|\n)33 91\r\n/);
    assert.match(out, /got typed\r\n/);
    assert.equal(code, 5);
  });

  it('debug: a container of its own among the processes of another one', async () => {
    const [pod = ''] = await pods();
    const name = pod.slice('pod/'.length);
    await scene.kubectl(
      `debug ${name} -c look --profile=general --target=web --image=${guestTag} -- /bin/sh -c`,
      'cat /proc/1/cmdline | tr "\\0" " "; wget -q -O - localhost:8080/index.html',
    );
    const state = '{.status.ephemeralContainerStatuses[0].state.terminated.exitCode}';
    await scene.waited(`${pod} --for=jsonpath=${state}=0`);
    assert.match(
      await scene.kubectl(`logs ${name} -c look`),
      /httpd -f -p 8080 -h \/pages \n?hello from a file\n$/,
    );
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

  it('proxy: pages of a pod and of a Service, by the API', async () => {
    const [pod = ''] = await pods();
    const base = '/api/v1/namespaces/default';
    for (const place of [
      `pods/${pod.slice('pod/'.length)}:8080`,
      'services/web:http',
      'services/http:web:80',
    ])
      assert.equal(await scene.kubectl(`get --raw ${base}/${place}/proxy/index.html`), 'hello from a file\n');
    assert.match(
      await scene.refused(`get --raw ${base}/services/web:http/proxy/none.html`),
      /NotFound|404|not find/,
    );
    assert.match(
      await scene.refused(`get --raw ${base}/${pod.replace('pod/', 'pods/')}:81/proxy/`),
      /error trying to reach service: connect ECONNREFUSED 10\.42\./,
    );
    const proxy = scene.start('proxy --port=0');
    const port = (): string | undefined => /Starting to serve on 127\.0\.0\.1:(\d+)/.exec(proxy.out())?.[1];
    await scene.until('kubectl proxy listens', () => Promise.resolve(port() !== undefined));
    const page = await fetch(`http://127.0.0.1:${port()}${base}/services/web:http/proxy/index.html`);
    assert.deepEqual([page.status, await page.text()], [200, 'hello from a file\n']);
    proxy.process.kill('SIGINT');
    await proxy.ended;
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
});
