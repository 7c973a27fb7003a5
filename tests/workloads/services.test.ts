import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { it } from 'node:test';
import type { Service } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { authorityOf, ServiceScene } from './service-scene.ts';
import { containersAreMissing, guestTag } from './workload-host.ts';

const namespace = 'default';
const labels = { app: 'web' };
const web = 'mkdir -p /tmp/www; hostname > /tmp/www/index.html; exec httpd -f -p 8080 -h /tmp/www';
const idle = 'while :; do sleep 1000 & wait $!; done';
const asksEach = 60;

it(
  'Services work: by name from a pod, by address and port from the host, with the API among them',
  {
    skip: containersAreMissing,
  },
  () =>
    ServiceScene.with(async (scene) => {
      await prepare(scene);
      const service = await scene.client.get(resources.services, { namespace, name: 'web' });
      await reachesReplicas(scene, service);
      await forgetsReplica(scene, service);
      await refusesAtOnce(scene);
      await resolvesNames(scene);
      await reachesApi(scene);
      await outlivesSheaf(scene, service);
      await leavesNothing(scene);
    }),
);

async function prepare(scene: ServiceScene): Promise<void> {
  const { client } = scene;
  const readinessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 };
  const container = { name: 'c', image: guestTag, command: ['/bin/sh', '-c', web], readinessProbe };
  await client.create(resources.deployments, {
    metadata: { namespace, name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } },
    },
  });
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  await client.create(resources.services, {
    metadata: { namespace, name: 'web' },
    spec: { type: 'NodePort', selector: labels, ports },
  });
  await client.create(resources.services, {
    metadata: { namespace, name: 'empty' },
    spec: { selector: { app: 'none' }, ports },
  });
  const { metadata, spec } = scene.pod('asks', idle);
  await scene.until(
    async () => (await client.find(resources.serviceAccounts, { namespace, name: 'default' })) !== undefined,
    'the account of pods is there',
  );
  await client.create(resources.pods, { metadata: { namespace, ...metadata }, spec });
  await scene.until(async () => (await readyPods(scene)).length === 3, 'three replicas are ready');
  await scene.until(async () => {
    const pod = await client.get(resources.pods, { namespace, name: 'asks' });
    return pod.status?.phase === 'Running';
  }, 'the pod that asks runs');
}

async function readyPods({ client }: ServiceScene): Promise<readonly string[]> {
  const { items } = await client.list(resources.pods, { namespace, labelSelector: 'app=web' });
  const ready = items.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
  );
  return ready.map(({ metadata }) => metadata.name ?? '').toSorted((a, b) => a.localeCompare(b));
}

async function seenFromPod(scene: ServiceScene, host: string): Promise<readonly string[]> {
  const script = `i=0; while [ $i -lt ${asksEach} ]; do wget -q -O - http://${host}/ || echo refused; i=$((i+1)); done`;
  const { out } = await scene.inPod('asks', script);
  return [...new Set(out.trim().split('\n'))].toSorted((a, b) => a.localeCompare(b));
}

async function seenFromHost(url: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let time = 0; time < asksEach; time++) found.add(await fetchText(url));
  return [...found].toSorted((a, b) => a.localeCompare(b));
}

/** Each on a connection of its own. */
function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve(text.trim()));
    });
    sent.on('error', reject).end();
  });
}

function placesOf({ spec }: Service): readonly string[] {
  return [`http://${spec.clusterIP}/`, `http://127.0.0.1:${spec.ports?.[0]?.nodePort}/`];
}

async function reachesReplicas(scene: ServiceScene, service: Service): Promise<void> {
  const replicas = await readyPods(scene);
  // Endpoints follow the pods, and the rules follow the Endpoints.
  await scene.until(
    async () => (await seenFromPod(scene, 'web')).join() === replicas.join(),
    'a pod sees all replicas',
  );
  assert.deepEqual(await seenFromPod(scene, 'web.default.svc.cluster.local'), replicas);
  for (const url of placesOf(service)) assert.deepEqual(await seenFromHost(url), replicas, url);
}

async function forgetsReplica(scene: ServiceScene, service: Service): Promise<void> {
  const [killed = ''] = await readyPods(scene);
  await scene.client.delete(resources.pods, { namespace, name: killed });
  await scene.until(async () => {
    const ready = await readyPods(scene);
    return ready.length === 3 && !ready.includes(killed);
  }, 'another one has taken its place');
  await reachesReplicas(scene, service);
}

async function refusesAtOnce(scene: ServiceScene): Promise<void> {
  const { code, err } = await scene.inPod('asks', 'wget -q -O - http://empty/');
  assert.notEqual(code, 0);
  assert.match(err, /Connection refused/);
}

async function resolvesNames(scene: ServiceScene): Promise<void> {
  const { out: resolver } = await scene.inPod('asks', 'cat /etc/resolv.conf');
  assert.match(resolver, /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/m);
  assert.match(resolver, /^nameserver 10\.43\.0\.10$/m);
  assert.match(resolver, /^options ndots:5$/m);
  const program = `
    import { Resolver } from 'node:dns/promises';
    const resolver = new Resolver();
    resolver.setServers(['10.43.0.10']);
    console.log(JSON.stringify(await resolver.resolveSrv('_http._tcp.web.default.svc.cluster.local')));
    console.log(await resolver.resolve4('none.default.svc.cluster.local').catch((error) => error.code));
  `;
  const { out } = await scene.nodeInPod('asks', program);
  assert.match(out, /"name":"web\.default\.svc\.cluster\.local","port":80/);
  assert.match(out, /ENOTFOUND/);
}

/** With what is mounted into each pod, by the address and by the name of its certificate. */
async function reachesApi(scene: ServiceScene): Promise<void> {
  const { ca, token } = await authorityOf(scene, 'asks');
  const program = `
    import { request } from 'node:https';
    for (const servername of ['kubernetes.default.svc', '']) {
      const options = { host: '10.43.0.1', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', method: 'POST',
        servername, ca: ${JSON.stringify(ca)}, agent: false,
        headers: { authorization: ${JSON.stringify(`Bearer ${token}`)}, 'content-type': 'application/json' } };
      const sent = request(options, (answer) => answer.setEncoding('utf8').on('data', (text) => console.log(text)));
      sent.on('error', (error) => console.log(String(error)));
      sent.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }));
    }
  `;
  const { out, err } = await scene.nodeInPod('asks', program);
  assert.equal(out.match(/"username":"system:serviceaccount:default:default"/g)?.length, 2, out + err);
}

async function outlivesSheaf(scene: ServiceScene, service: Service): Promise<void> {
  const replicas = await readyPods(scene);
  await scene.kill();
  for (const url of placesOf(service)) assert.deepEqual(await seenFromHost(url), replicas, 'pods go on');
  await scene.start();
  await reachesReplicas(scene, service);
  await reachesApi(scene);
}

async function leavesNothing(scene: ServiceScene): Promise<void> {
  assert.ok((await scene.rules()).length > 0);
  await scene.removePods();
  await scene.stop();
  assert.deepEqual(await scene.rules(), []);
  assert.doesNotMatch(readFileSync('/proc/net/route', 'utf8'), new RegExp(scene.bridgeName));
  await scene.start();
}
