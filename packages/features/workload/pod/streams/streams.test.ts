import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProcessAnswer, RemoteProcess } from '@sheaf/api';
import type { Container, PodSpec } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { type PodWorld, withPods } from '../pod-world.fixture.ts';
import type { PodRequest, PodStreamParts } from './pod-target.ts';
import { forwardPorts } from './port-forward.ts';
import { attach, execute } from './process.ts';

const { signal } = new AbortController();
const pods = '/api/v1/namespaces/default/pods';

function container(name: string, steps: readonly string[], extra: Partial<Container> = {}): Container {
  return { name, image: 'localhost/test/guest:1', args: steps, ...extra };
}

async function run(world: PodWorld, spec: Partial<PodSpec>): Promise<void> {
  await world.create(resources.pods, 'web', { spec: { containers: [], nodeName: 'here', ...spec } });
}

/** Until the status tells that all containers run. */
async function running(world: PodWorld): Promise<void> {
  await world.until(async () => {
    const { status } = await world.get(resources.pods, 'web');
    return status?.containerStatuses?.every(({ state }) => state?.running) === true;
  });
}

async function log(world: PodWorld, query = ''): Promise<string> {
  const answer = await world.client.send({ method: 'GET', target: `${pods}/web/log${query}` });
  const text = await answer.text();
  return answer.status === 200 ? text : `${answer.status} ${text && (JSON.parse(text) as Error).message}`;
}

async function send({ client }: PodWorld, target: string, object: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await client.send({ method: 'POST', target, headers, body: JSON.stringify(object) });
  assert.equal(answer.status, 201, await answer.text());
}

function request(query: string): PodRequest {
  return { namespace: 'default', name: 'web', query: new URLSearchParams(query), signal };
}

function partsOf({ client, containers }: PodWorld): PodStreamParts {
  return { client, containers, nodeName: 'here' };
}

async function opened(answer: Promise<ProcessAnswer>): Promise<RemoteProcess> {
  return await (await answer).open(signal);
}

async function printed(process: RemoteProcess): Promise<string> {
  let text = '';
  for await (const { stream, bytes } of process.output)
    text += `${stream === 'stderr' ? '!' : ''}${Buffer.from(bytes).toString()}`;
  return text;
}

async function refusal(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => assert.fail('it was not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(StatusError.is(error), String(error));
  return `${error.code} ${error.message}`;
}

describe('the log of a pod', () => {
  it('is told run by run', () =>
    withPods(async (world) => {
      await run(world, {
        initContainers: [container('first', ['print begun'])],
        containers: [container('main', ['print one', 'print two', 'stay'])],
      });
      await running(world);
      assert.equal(await log(world), 'one\ntwo\n');
      assert.equal(await log(world, '?tailLines=1'), 'two\n');
      assert.equal(await log(world, '?container=first'), 'begun\n');
      assert.equal(await log(world, '?sinceSeconds=3600'), 'one\ntwo\n');
      assert.match(await log(world, '?previous=true'), /^400 previous terminated container "main"/);
      world.exit('web', 'main', 3);
      await world.until(async () => (await log(world, '?previous=true')) === 'one\ntwo\n');
    }));

  it('is not there before there is a container', () =>
    withPods(async (world) => {
      await world.create(resources.pods, 'web', { spec: { containers: [container('main', [])] } });
      assert.equal(await log(world), '204 ');
      assert.match(await log(world, '?container=none'), /^400 container none is not valid for pod web/);
      assert.match(await log(world, '?tailLines=-1'), /^422 /);
    }));

  it('is with the node that runs the pod', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', [])], nodeName: 'there' });
      assert.match(await log(world), /^503 pod web is on node "there"/);
      assert.match(await refusal(execute(partsOf(world), request('stdout=1&command=x'))), /^503 /);
    }));

  it('is told to those who may read it', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['stay'])] });
      const stranger = world.clientAs({ name: 'stranger', groups: ['system:authenticated'] });
      for (const [method, word, verb] of [
        ['GET', 'log', 'get'],
        ['GET', 'exec', 'get'],
        ['POST', 'exec', 'create'],
        ['POST', 'attach', 'create'],
        ['POST', 'portforward', 'create'],
      ] as const) {
        const answer = await stranger.send({ method, target: `${pods}/web/${word}?command=x&stdout=1` });
        const words = `User "stranger" cannot ${verb} resource "pods/${word}"`;
        assert.ok(
          answer.status === 403 && (await answer.text()).includes(JSON.stringify(words).slice(1, -1)),
        );
      }
    }));

  it('is no connection, in which policies have a say; a command is one', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['stay'])] });
      await running(world);
      const policies = '/apis/admissionregistration.k8s.io/v1';
      const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods/*'], operations: ['CONNECT'] };
      await send(world, `${policies}/validatingadmissionpolicies`, {
        metadata: { name: 'no-shells' },
        spec: {
          matchConstraints: { resourceRules: [rule] },
          validations: [{ expression: "!object.command.exists(word, word == 'sh')", message: 'no shells' }],
        },
      });
      await send(world, `${policies}/validatingadmissionpolicybindings`, {
        metadata: { name: 'no-shells' },
        spec: { policyName: 'no-shells', validationActions: ['Deny'] },
      });
      assert.equal(await log(world), '');
      const asked = async (command: string): Promise<string> => {
        const target = `${pods}/web/exec?stdout=1&command=${command}`;
        const answer = await world.client.send({ method: 'POST', target });
        return `${answer.status} ${(JSON.parse(await answer.text()) as Error).message}`;
      };
      assert.match(
        await asked('sh'),
        /^422 pods "web" is forbidden: .*'no-shells'.*denied request: no shells/,
      );
      assert.match(await asked('ls'), /^400 Upgrade request required/);
    }));

  it('stays in discovery as it was', () =>
    withPods(async (world) => {
      const { resources: all } = (await world.client.raw('/api/v1')) as unknown as {
        readonly resources: readonly { readonly name: string; readonly kind: string }[];
      };
      assert.deepEqual(
        all.filter(({ name }) => /^pods\/(log|exec)$/.test(name)).map(({ name, kind }) => [name, kind]),
        [
          ['pods/exec', 'PodExecOptions'],
          ['pods/log', 'Pod'],
        ],
      );
    }));
});

describe('a process in a pod', () => {
  it('has an outcome', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['stay'])] });
      await running(world);
      const command = ['/guest', 'print out', 'complain err', 'exit 7'];
      const query = new URLSearchParams([...command.map((word) => ['command', word]), ['stdout', 'true']]);
      const process = await opened(execute(partsOf(world), request(`${query}&stderr=true`)));
      assert.equal(await printed(process), 'out\n!err\n');
      const outcome = await process.outcome(signal);
      assert.deepEqual(outcome?.details, { causes: [{ reason: 'ExitCode', message: '7' }] });
      const well = await opened(execute(partsOf(world), request('stdout=1&command=/guest')));
      await printed(well);
      assert.equal(await well.outcome(signal), undefined);
      const unclear = new URLSearchParams([
        ['command', '/guest'],
        ['command', 'exit -1'],
        ['stdout', 'true'],
      ]);
      const lost = await opened(execute(partsOf(world), request(`${unclear}`)));
      await printed(lost);
      assert.match((await lost.outcome(signal))?.message ?? '', /is not known.*disk of the node is full/);
    }));

  it('is refused with the reason', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['exit 0'])], restartPolicy: 'Never' });
      await world.until(async () => (await world.get(resources.pods, 'web')).status?.phase === 'Succeeded');
      const parts = partsOf(world);
      assert.match(
        await refusal(execute(parts, request('stdout=1'))),
        /^400 you must specify at least one command/,
      );
      assert.match(
        await refusal(execute(parts, request('command=x&stderr=1&stdout=0&tty=1'))),
        /^400 you must specify at least 1 of stdin, stdout, stderr/,
      );
      assert.match(
        await refusal(execute(parts, request('command=x&stdout=1'))),
        /^400 unable to upgrade connection: container not found \("main"\): it does not run now; kubectl describe pod web/,
      );
      assert.match(await refusal(attach(parts, request('stdout=1'))), /container not found/);
      const found = await world.client.send({ method: 'GET', target: `${pods}/web/exec?command=x&stdout=1` });
      assert.equal(found.status, 400);
    }));

  it('that cannot be started says why on its own stream', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['stay'])] });
      await running(world);
      world.host.faults.executeFailure = ({ command }) => `${command[0]}: no such file or directory`;
      assert.match(
        await refusal(opened(execute(partsOf(world), request('command=nosuch&stdout=1')))),
        /^500 Internal error occurred: error executing command in container: nosuch: no such file/,
      );
      const answer = await world.client.send({
        method: 'POST',
        target: `${pods}/web/exec?command=x&stdout=1`,
      });
      assert.match(
        await answer.text(),
        /Upgrade request required: open it as a WebSocket .* or with Upgrade: SPDY/,
      );
    }));

  it('is the first one of its container for those who attach', () =>
    withPods(async (world) => {
      await run(world, {
        restartPolicy: 'Never',
        containers: [container('main', ['echo', 'exit 3'], { stdin: true, stdinOnce: true })],
      });
      await running(world);
      const viewer = await opened(attach(partsOf(world), request('stdout=1')));
      const typist = await opened(attach(partsOf(world), request('stdout=1&stdin=1')));
      const seen = printed(viewer);
      await typist.write(Buffer.from('typed\n'));
      await typist.endInput();
      assert.deepEqual([await seen, await printed(typist)], ['typed\n', 'typed\n']);
      // The pod's status tells how it ended.
      assert.equal(await typist.outcome(signal), undefined);
    }));
});

describe('a container that was put into a pod', () => {
  it('has its terminal for those who attach', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['stay'])] });
      await running(world);
      const ephemeralContainers = [container('look', ['stay'], { stdin: true, tty: true })];
      await world.client.patch(
        resources.pods,
        { namespace: 'default', name: 'web' },
        {
          type: 'strategic',
          subresource: 'ephemeralcontainers',
          body: { spec: { ephemeralContainers } } as never,
        },
      );
      await world.until(async () => {
        const { status } = await world.get(resources.pods, 'web');
        return status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined;
      });
      const answer = await attach(partsOf(world), request('container=look&stdout=1&stdin=1&tty=1'));
      assert.equal(answer.streams.terminal, true);
    }));
});

describe('ports of a pod', () => {
  it('are reached where something listens', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['listen 8080', 'stay'])] });
      await running(world);
      const answer = await forwardPorts(partsOf(world), request('ports=8080,8081&ports=80'));
      assert.deepEqual(answer.ports, [8080, 8081, 80]);
      const stream = await answer.open(8080, signal);
      await stream.write(Buffer.from('GET / HTTP/1.0\r\n\r\n'));
      const chunks = await Array.fromAsync(stream.readable);
      assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.0 200 OK/);
      assert.match(
        await refusal(answer.open(8081, signal)),
        /^503 error forwarding port 8081 to pod web, uid .*: .*port 8081/,
      );
    }));

  it('are refused with the reason', () =>
    withPods(async (world) => {
      const parts = partsOf(world);
      assert.match(await refusal(forwardPorts(parts, request(''))), /^404 pods "web" not found/);
      await world.create(resources.pods, 'web', { spec: { containers: [container('main', [])] } });
      assert.match(
        await refusal(forwardPorts(parts, request(''))),
        /^400 pod web does not have a host assigned/,
      );
      assert.match(await refusal(forwardPorts(parts, request('ports=0'))), /^400 "0" is no port/);
      const many = Array.from({ length: 101 }, () => '80').join(',');
      assert.match(await refusal(forwardPorts(parts, request(`ports=${many}`))), /^400 at most 100 ports/);
    }));

  it('are those of a pod that runs', () =>
    withPods(async (world) => {
      await run(world, { containers: [container('main', ['exit 0'])], restartPolicy: 'Never' });
      await world.until(async () => (await world.get(resources.pods, 'web')).status?.phase === 'Succeeded');
      assert.match(
        await refusal(forwardPorts(partsOf(world), request(''))),
        /^400 unable to forward port because pod is not running. Current status=Succeeded/,
      );
    }));
});
