import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { AuditLog } from '@sheaf/apiserver/audit/index';
import { RequestMetrics } from '@sheaf/apiserver/metrics/index';
import { InFlight } from '@sheaf/apiserver/pipeline/in-flight';
import { joinedObserver } from '@sheaf/apiserver/pipeline/request-observer';
import { type JsonObject, MetricsRegistry, StatusError, silentLogger } from '@sheaf/base';
import { systemClock } from '@sheaf/drivers/system';
import { WebSocket } from 'ws';
import { type ExtensionServer, post, startExtensionServer } from './extension-server.fixture.ts';

const root = '/apis/subresources.kubevirt.io/v1/namespaces/default';
const console = `${root}/virtualmachineinstances/vm1/console`;

describe('extensions over HTTP', { timeout: 120_000 }, () => {
  let server: ExtensionServer;
  const metrics = new MetricsRegistry();
  const audited: string[] = [];
  const audit = new AuditLog({
    file: {
      append: (lines) => Promise.resolve(void audited.push(...lines.trimEnd().split('\n'))),
      close: () => Promise.resolve(),
    },
    clock: systemClock,
    logger: silentLogger,
    metrics,
  });
  before(async () => {
    const inFlight = new InFlight();
    const requests = new RequestMetrics({
      metrics,
      clock: systemClock,
      inFlight,
      registry: () => server?.test.server.registry,
    });
    server = await startExtensionServer({ inFlight, observer: joinedObserver([requests, audit]) });
  });
  after(async () => {
    await server.close();
    await audit.close();
  });

  const refusal = async (target: string, request: object = {}): Promise<string> => {
    const answer = await server.client.send({ method: 'GET', target, ...request });
    const text = await answer.text();
    if (answer.status < 400) assert.fail(`${answer.status} ${text}`);
    const { message } = JSON.parse(text) as { message: string };
    return `${answer.status} ${message}`;
  };
  const open = (target: string, options: { protocols?: string[]; headers?: Record<string, string> } = {}) => {
    const { authority, credentials } = server.admin;
    const socket = new WebSocket(`${server.url.replace('https', 'wss')}${target}`, options.protocols ?? [], {
      ca: authority,
      ...('certificate' in credentials &&
      !options.headers?.['authorization'] &&
      !options.protocols?.[0]?.startsWith('base64url.')
        ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
        : {}),
      headers: options.headers ?? {},
    });
    return socket;
  };
  const message = async (socket: WebSocket): Promise<{ text: string; isBinary: boolean }> => {
    const [data, isBinary] = (await once(socket, 'message')) as [Buffer, boolean];
    return { text: data.toString(), isBinary };
  };

  describe('groups', () => {
    it('are in discovery, plain and aggregated, and have a local APIService', async () => {
      const group = await server.client.raw('/apis/subresources.kubevirt.io');
      assert.deepEqual(group['preferredVersion'], {
        groupVersion: 'subresources.kubevirt.io/v1',
        version: 'v1',
      });
      const list = (await server.client.raw('/apis/subresources.kubevirt.io/v1')) as {
        resources?: JsonObject[];
      };
      assert.deepEqual(list.resources?.slice(0, 1), [
        { name: 'virtualmachines/start', singularName: '', namespaced: true, kind: '', verbs: ['update'] },
      ]);
      const all = (await server.client.raw('/apis', {
        headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
      })) as unknown as {
        items: { metadata: { name: string }; versions: { version: string; resources: JsonObject[] }[] }[];
      };
      const found = all.items.find(({ metadata }) => metadata.name === 'subresources.kubevirt.io');
      assert.deepEqual(
        found?.versions.map(({ version }) => version),
        ['v1', 'v1alpha3'],
      );
      assert.deepEqual(
        found?.versions[0]?.resources.find((item) => item['resource'] === 'virtualmachines'),
        {
          resource: 'virtualmachines',
          responseKind: { group: '', version: '', kind: '' },
          scope: 'Namespaced',
          singularResource: '',
          verbs: [],
          subresources: [
            { subresource: 'start', responseKind: { group: '', version: '', kind: '' }, verbs: ['update'] },
          ],
        },
      );
      const service = await server.client.raw(
        '/apis/apiregistration.k8s.io/v1/apiservices/v1.subresources.kubevirt.io',
      );
      assert.match(JSON.stringify(service['status']), /"reason":"Local"/);
    });

    it('answer with status, body, warnings, and in every version', async () => {
      const started = await server.client.send({
        method: 'PUT',
        target: `${root}/virtualmachines/vm1/start`,
        body: '{"paused":true}',
      });
      assert.deepEqual(
        [started.status, await started.text(), started.headers['warning']],
        [202, '', '299 - "it stands still until it is unpaused"'],
      );
      assert.deepEqual(
        await server.client.raw(
          `${root.replace('/v1/', '/v1alpha3/')}/virtualmachineinstances/vm1/guestosinfo`,
        ),
        { namespace: 'default', name: 'vm1', version: 'v1alpha3', user: 'kubernetes-admin' },
      );
      assert.deepEqual(await server.client.raw('/apis/subresources.kubevirt.io/v1/version'), {
        gitVersion: 'v1.8.0',
      });
      assert.equal(await server.client.text(`${root}/virtualmachineinstances/vm1/vnc/screenshot`), 'PNG');
    });

    it('refuse what they do not serve, with the words of every resource', async () => {
      const unknown = '404 the server could not find the requested resource';
      assert.equal(await refusal(`${root}/virtualmachines/vm1/fly`, { method: 'PUT' }), unknown);
      assert.equal(await refusal(`${root}/virtualmachineinstances/vm1/guestosinfo/more`), unknown);
      assert.equal(
        await refusal('/apis/subresources.kubevirt.io/v1/virtualmachines/vm1/start', { method: 'PUT' }),
        unknown,
      );
      assert.match(await refusal(`${root}/virtualmachines/vm1/start`), /^405 the server does not allow/);
      assert.match(await refusal(console), /^400 this is a stream: open it as a WebSocket/);
      assert.match(
        await refusal(`${root}/virtualmachines/gone/start`, { method: 'PUT' }),
        /^404 virtualmachine.kubevirt.io "gone" not found/,
      );
    });

    it('bound and check bodies', async () => {
      const target = `${root}/virtualmachines/vm1/start`;
      assert.equal(
        await refusal(target, { method: 'PUT', body: `{"a":"${'x'.repeat(1000)}"}` }),
        '413 Request entity too large: limit is 1000',
      );
      assert.match(await refusal(target, { method: 'PUT', body: '{' }), /^400 the request body is not JSON/);
      assert.match(
        await refusal(target, { method: 'PUT', body: '[]' }),
        /^400 the request body is JSON but not/,
      );
    });

    it('authorize by verb, group, resource and subresource', async () => {
      const token = await server.newToken('limited');
      const client = server.clientOf(token);
      await assert.rejects(
        client.raw(`${root}/virtualmachineinstances/vm1/guestosinfo`),
        (error) =>
          StatusError.is(error, 'Forbidden') &&
          error.message ===
            'virtualmachineinstances.subresources.kubevirt.io "vm1" is forbidden: User "system:serviceaccount:default:limited" cannot get resource "virtualmachineinstances/guestosinfo" in API group "subresources.kubevirt.io" in the namespace "default"',
      );
      await assert.rejects(client.connect(console), (error) => StatusError.is(error, 'Forbidden'));
      await grant(server, 'limited', ['virtualmachineinstances/vnc', 'virtualmachineinstances/guestosinfo']);
      await client.raw(`${root}/virtualmachineinstances/vm1/guestosinfo`);
      // One subresource in another needs both.
      await assert.rejects(
        client.text(`${root}/virtualmachineinstances/vm1/vnc/screenshot`),
        /cannot get resource "virtualmachineinstances\/vnc\/screenshot"/,
      );
    });

    it('are counted under their names', () => {
      assert.match(
        metrics.text(),
        /apiserver_request_total\{verb="PUT",group="subresources.kubevirt.io",version="v1",resource="virtualmachines",subresource="start".*code="202"\} 1/,
      );
      assert.doesNotMatch(metrics.text(), /subresource="fly"/);
    });
  });

  describe('streams', () => {
    it('carry bytes both ways under the protocols of virtctl, noVNC and browsers', async () => {
      for (const protocol of ['plain.kubevirt.io', 'binary.k8s.io', 'binary']) {
        const socket = open(console, { protocols: ['unknown', protocol] });
        await once(socket, 'open');
        assert.equal(socket.protocol, protocol);
        socket.send(Buffer.from('ping'));
        assert.deepEqual(await message(socket), { text: 'ping', isBinary: true });
        socket.close(1000);
        await once(socket, 'close');
      }
      const socket = open(console, { protocols: ['base64.binary.k8s.io'] });
      await once(socket, 'open');
      socket.send(Buffer.from('ping').toString('base64'));
      assert.deepEqual(await message(socket), { text: 'cGluZw==', isBinary: false });
      socket.close();
      await once(socket, 'close');
    });

    it('need no protocol, and take text for its bytes', async () => {
      const socket = open(`${root}/virtualmachineinstances/vm1/portforward/22/tcp`);
      assert.deepEqual(await message(socket), { text: '22 tcp', isBinary: true });
      assert.equal(socket.protocol, '');
      socket.send('typed');
      assert.deepEqual(await message(socket), { text: 'typed', isBinary: true });
      socket.close();
      await once(socket, 'close');
    });

    it('take the token of a browser as a protocol, and never answer with it', async () => {
      const token = await server.newToken('browser');
      await grant(server, 'browser', ['virtualmachineinstances/console']);
      const secret = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
      const socket = open(console, { protocols: [secret, 'plain.kubevirt.io'] });
      await once(socket, 'open');
      assert.equal(socket.protocol, 'plain.kubevirt.io');
      socket.close();
      await once(socket, 'close');
    });

    it('end on both sides, whichever ends first', async () => {
      const socket = open(console);
      await once(socket, 'open');
      assert.ok(server.feature.open.has('console'));
      socket.send('exit');
      assert.equal((await message(socket)).text, 'exit');
      const [code] = (await once(socket, 'close')) as [number];
      assert.equal(code, 1000);
      const gone = open(console);
      await once(gone, 'open');
      gone.terminate();
      await until(() => !server.feature.open.has('console'));
    });

    it('are audited at their begin and end, and counted while they are open', async () => {
      const socket = open(console, { headers: { 'audit-id': 'watched' } });
      await once(socket, 'open');
      const count = /^apiserver_longrunning_requests\{verb="GET",.*subresource="console".*\} (\d+)$/m;
      assert.equal(count.exec(metrics.text())?.[1], '1');
      socket.close();
      await until(() => count.exec(metrics.text())?.[1] === '0');
      await audit.flush();
      const events = audited.map((line) => JSON.parse(line) as JsonObject);
      assert.deepEqual(
        events
          .filter((event) => event['auditID'] === 'watched')
          .map(({ stage, verb, responseStatus }) => [stage, verb, (responseStatus as JsonObject)['code']]),
        [
          ['ResponseStarted', 'get', 101],
          ['ResponseComplete', 'get', 101],
        ],
      );
    });

    it('tell a failure of the other side in the close frame', async () => {
      const socket = open(`${root}/virtualmachineinstances/vm1/vnc`);
      await once(socket, 'open');
      socket.send('x');
      const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
      assert.deepEqual([code, reason.toString()], [1011, 'the machine is gone']);
      await until(() => !server.feature.open.has('vnc'));
    });

    it('bound the size of a message', async () => {
      const socket = open(console);
      await once(socket, 'open');
      socket.send(Buffer.alloc(2 * 1024 * 1024));
      const [code] = (await once(socket, 'close')) as [number];
      assert.equal(code, 1009);
    });

    it('answer what is no WebSocket, and what is no stream, as ever', async () => {
      const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
      assert.match(await refusal(console, { headers: upgrade }), /^400 this is a stream/);
      const socket = open(`${root}/virtualmachineinstances/vm1/guestosinfo`);
      socket.on('error', () => {});
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
      assert.equal(response.statusCode, 200);
    });

    it('are opened by the client alike over HTTP and in the process', async () => {
      for (const client of [server.client, server.test.client]) {
        const stream = await client.connect(console);
        await stream.write(Buffer.from('exit'));
        const chunks = await Array.fromAsync(stream.readable);
        assert.equal(Buffer.concat(chunks).toString(), 'exit');
        stream.dispose();
        await assert.rejects(client.connect(`${root}/virtualmachines/vm1/fly`), (error) =>
          StatusError.is(error, 'NotFound'),
        );
      }
      await until(() => !server.feature.open.has('console'));
    });

    it('carry a flood in both directions without gathering it', async () => {
      const stream = await server.client.connect(console);
      const total = 64 * 1024 * 1024;
      const chunk = Buffer.alloc(256 * 1024, 1);
      const sent = (async () => {
        for (let bytes = 0; bytes < total; bytes += chunk.length) await stream.write(chunk);
      })();
      let received = 0;
      for await (const part of stream.readable) {
        received += part.length;
        if (received === total) break;
      }
      await sent;
      assert.equal(received, total);
      stream.dispose();
    });
  });

  describe('routes', () => {
    const machine = '/v1/sample/machines/default/vm1';

    it('answer by path and action, and fail in their own form', async () => {
      const started = await server.client.send(post(`${machine}?action=start`, {}));
      assert.deepEqual([started.status, await started.text()], [204, '']);
      const wrong = await server.client.send(post(`${machine}?action=start`, { fail: true }));
      assert.deepEqual([wrong.status, await wrong.text()], [422, ': InvalidBodyContent: it must not fail']);
      const unknown = await server.client.send(post(`${machine}?action=fly`, {}));
      assert.deepEqual([unknown.status, await unknown.text()], [403, 'no action fly']);
    });

    it('let in whom they say', async () => {
      const client = server.clientOf(await server.newToken('stranger'));
      const refused = await client.send(post(`${machine}?action=start`, {}));
      assert.equal(refused.status, 403);
      assert.match(
        await refused.text(),
        /^Forbidden: configmaps "vm1" is forbidden: User "system:serviceaccount:default:stranger" cannot update resource "configmaps"/,
      );
      const nobody = server.clientOf('');
      assert.equal(await nobody.text('/v1/sample/public'), 'hello');
      const anonymous = await nobody.send(post(`${machine}?action=fly`, {}));
      assert.equal(anonymous.status, 401);
    });

    it('look at tokens of their own, which are worth nothing elsewhere', async () => {
      const holder = server.clientOf('made-by-the-route');
      assert.equal(await holder.text('/v1/sample/own-token'), 'Bearer made-by-the-route of system:anonymous');
      assert.equal((await holder.send({ method: 'GET', target: '/v1/sample/public' })).status, 401);
    });

    it('are not answered when a route forgets to ask', async () => {
      assert.match(await refusal('/v1/sample/forgetful'), /^500 .*without asking what the user may do/);
    });

    it('stream downloads, and break them off when they fail', async () => {
      assert.equal(await server.client.text('/v1/sample/files/a/b'), 'a/b 0\na/b 1\na/b 2\n');
      await assert.rejects(server.client.text('/v1/sample/files/broken'), /broke off|aborted/);
    });

    it('carry texts over WebSockets', async () => {
      const socket = open('/v1/sample/subscribe');
      await once(socket, 'open');
      socket.send('{"name":"start"}');
      assert.deepEqual(await message(socket), { text: '{"name":"start"}', isBinary: false });
      socket.close();
      await once(socket, 'close');
    });

    it('take uploads of 200 MB as they come, in flat memory', async () => {
      const total = 200 * 1024 * 1024;
      const chunk = Buffer.alloc(64 * 1024, 7);
      let produced = 0;
      let mostWaiting = 0;
      // Slower than the client.
      server.feature.onChunk = async () => {
        mostWaiting = Math.max(mostWaiting, produced - server.feature.uploaded);
        await new Promise((resolve) => setImmediate(resolve));
      };
      async function* upload(): AsyncGenerator<Uint8Array> {
        for (; produced < total; produced += chunk.length) yield chunk;
      }
      const before = process.memoryUsage();
      const answer = await server.client.send({
        method: 'POST',
        target: `${machine}?action=upload`,
        upload: upload(),
      });
      assert.equal(await answer.text(), `{"bytes":${total}}`);
      assert.ok(mostWaiting < 16 * 1024 * 1024, `${mostWaiting} bytes were on their way at once`);
      const { arrayBuffers } = process.memoryUsage();
      assert.ok(arrayBuffers - before.arrayBuffers < 64 * 1024 * 1024);
    });

    it('take forms', async () => {
      const form = new FormData();
      form.append('size', '4');
      form.append('file', new Blob(['data']), 'disk.img');
      const sent = new Response(form);
      const answer = await server.client.send({
        method: 'POST',
        target: `${machine}?action=form`,
        headers: { 'content-type': sent.headers.get('content-type') ?? '' },
        body: await sent.text(),
      });
      assert.equal(await answer.text(), '{"size":"4","file":"data"}');
    });

    it('refuse an upload beyond the limit before and while it comes', async () => {
      const refused = await new Promise<number | undefined>((resolve, reject) => {
        const { authority, credentials } = server.admin;
        const outgoing = httpsRequest(new URL(`${machine}?action=upload`, server.url), {
          method: 'POST',
          ca: authority,
          ...('certificate' in credentials
            ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
            : {}),
          headers: { 'content-length': String(1024 ** 3) },
        });
        outgoing.on('response', (response) => {
          resolve(response.statusCode);
          outgoing.destroy();
        });
        outgoing.on('error', reject);
        outgoing.flushHeaders();
      });
      assert.equal(refused, 413);
      const tooMuch = { method: 'POST', target: `${machine}?action=upload-small`, upload: megabytes(2) };
      assert.equal((await server.client.send(tooMuch)).status, 413);
      assert.ok(server.feature.uploaded <= 1024 * 1024);
    });
  });

  describe('admission', () => {
    const configMaps = '/api/v1/namespaces/default/configmaps';

    it('changes what is stored, also in a dry run', async () => {
      const dry = await server.client.send(post(`${configMaps}?dryRun=All`, { metadata: { name: 'a' } }));
      assert.match(await dry.text(), /"labels":\{"sample":"seen"\}/);
      await server.client.send(post(configMaps, { metadata: { name: 'a' }, data: { address: '10.0.0.1' } }));
      const stored = await server.client.raw(`${configMaps}/a`);
      assert.deepEqual((stored['metadata'] as JsonObject)['labels'], { sample: 'seen' });
      const bare = JSON.stringify({ metadata: { name: 'a' }, data: { address: '10.0.0.1' } });
      const updated = await server.client.send({ method: 'PUT', target: `${configMaps}/a`, body: bare });
      assert.match(await updated.text(), /"labels":\{"sample":"seen"\}/);
    });

    it('refuses with the way out, looking at what is there now', async () => {
      const twin = { metadata: { name: 'b' }, data: { address: '10.0.0.1' } };
      assert.equal(
        await refusal(configMaps, post(configMaps, twin)),
        '409 the address is used by a. Choose another one, or delete that object.',
      );
      const answer = await server.client.send(post(`${configMaps}?dryRun=All`, twin));
      assert.equal(answer.status, 409);
      await server.client.send({ method: 'DELETE', target: `${configMaps}/a` });
      assert.equal((await server.client.send(post(configMaps, twin))).status, 201);
    });

    it('is asked before a deletion', async () => {
      await server.client.send(
        post(configMaps, { metadata: { name: 'kept', annotations: { 'sample/protected': '' } } }),
      );
      assert.equal(
        await refusal(`${configMaps}/kept`, { method: 'DELETE' }),
        '403 it is protected. Remove the annotation sample/protected first.',
      );
      assert.match(await refusal(configMaps, { method: 'DELETE' }), /^403 it is protected/);
    });

    it('is asked for custom resources in the same way', async () => {
      await server.client.send(
        post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', machineDefinition),
      );
      const machines = '/apis/example.com/v1/machines';
      await until(async () => (await server.client.send({ method: 'GET', target: machines })).status === 200);
      const kind = { apiVersion: 'example.com/v1', kind: 'Machine' };
      const made = await server.client.send(post(machines, { ...kind, metadata: { name: 'm' } }));
      assert.match(await made.text(), /"labels":\{"sample":"seen"\}/);
      assert.equal(made.headers['warning'], '299 - "sample machines do nothing"');
      assert.equal(
        await refusal(machines, post(machines, { ...kind, metadata: { name: 'webhook' } })),
        '400 admission webhook "m" denied the request: no',
      );
      assert.match(
        await refusal(machines, post(machines, { ...kind, metadata: { name: 'mistake' } })),
        /^500 .*sample-mistake looks at secrets: name it among its reads/,
      );
      const refused = await server.client.send(post(machines, { ...kind, metadata: { name: 'x-m' } }));
      assert.deepEqual(JSON.parse(await refused.text()), {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'the name is kept for later. Choose one that does not begin with "x-".',
        reason: 'Invalid',
        details: {
          name: 'x-m',
          group: 'example.com',
          kind: 'Machine',
          causes: [
            {
              reason: 'FieldValueInvalid',
              field: 'metadata.name',
              message: 'begins with "x-". Choose one that does not begin with "x-".',
            },
          ],
        },
        code: 422,
      });
    });
  });
});

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count * 16; index++) yield Buffer.alloc(64 * 1024);
}

const machineDefinition = {
  metadata: { name: 'machines.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'machines', singular: 'machine', kind: 'Machine', listKind: 'MachineList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

async function grant(server: ExtensionServer, account: string, resources: readonly string[]): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  await server.client.send(
    post(`${rbac}/roles`, {
      metadata: { name: account },
      rules: [{ apiGroups: ['subresources.kubevirt.io'], resources, verbs: ['get'] }],
    }),
  );
  await server.client.send(
    post(`${rbac}/rolebindings`, {
      metadata: { name: account },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
    }),
  );
}

/** Events only announce; the state is looked at. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
