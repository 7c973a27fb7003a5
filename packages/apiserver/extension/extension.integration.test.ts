import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type JsonObject, StatusError } from '@sheaf/base';
import { post } from './extension-server.fixture.ts';
import { console, ExtensionWorld, grant, root, until } from './extension-world.fixture.ts';

describe('extensions over HTTP', { timeout: 120_000 }, () => {
  let world: ExtensionWorld;
  before(async () => {
    world = await ExtensionWorld.open();
  });
  after(() => world.close());

  describe('groups', () => {
    it('are in discovery, plain and aggregated, and have a local APIService', async () => {
      const group = await world.server.client.raw('/apis/subresources.kubevirt.io');
      assert.deepEqual(group['preferredVersion'], {
        groupVersion: 'subresources.kubevirt.io/v1',
        version: 'v1',
      });
      const list = (await world.server.client.raw('/apis/subresources.kubevirt.io/v1')) as {
        resources?: JsonObject[];
      };
      assert.deepEqual(list.resources?.slice(0, 1), [
        { name: 'virtualmachines/start', singularName: '', namespaced: true, kind: '', verbs: ['update'] },
      ]);
      const all = (await world.server.client.raw('/apis', {
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
      const service = await world.server.client.raw(
        '/apis/apiregistration.k8s.io/v1/apiservices/v1.subresources.kubevirt.io',
      );
      assert.match(JSON.stringify(service['status']), /"reason":"Local"/);
    });

    it('answer with status, body, warnings, and in every version', async () => {
      const started = await world.server.client.send({
        method: 'PUT',
        target: `${root}/virtualmachines/vm1/start`,
        body: '{"paused":true}',
      });
      assert.deepEqual(
        [started.status, await started.text(), started.headers['warning']],
        [202, '', '299 - "it stands still until it is unpaused"'],
      );
      assert.deepEqual(
        await world.server.client.raw(
          `${root.replace('/v1/', '/v1alpha3/')}/virtualmachineinstances/vm1/guestosinfo`,
        ),
        { namespace: 'default', name: 'vm1', version: 'v1alpha3', user: 'kubernetes-admin' },
      );
      assert.deepEqual(await world.server.client.raw('/apis/subresources.kubevirt.io/v1/version'), {
        gitVersion: 'v1.8.0',
      });
      assert.equal(
        await world.server.client.text(`${root}/virtualmachineinstances/vm1/vnc/screenshot`),
        'PNG',
      );
    });

    it('refuse what they do not serve, with the words of every resource', async () => {
      const unknown = '404 the server could not find the requested resource';
      assert.equal(await world.refusal(`${root}/virtualmachines/vm1/fly`, { method: 'PUT' }), unknown);
      assert.equal(await world.refusal(`${root}/virtualmachineinstances/vm1/guestosinfo/more`), unknown);
      assert.equal(
        await world.refusal('/apis/subresources.kubevirt.io/v1/virtualmachines/vm1/start', { method: 'PUT' }),
        unknown,
      );
      assert.match(
        await world.refusal(`${root}/virtualmachines/vm1/start`),
        /^405 the server does not allow/,
      );
      assert.match(await world.refusal(console), /^400 this is a stream: open it as a WebSocket/);
      assert.match(
        await world.refusal(`${root}/virtualmachines/gone/start`, { method: 'PUT' }),
        /^404 virtualmachine.kubevirt.io "gone" not found/,
      );
    });

    it('bound and check bodies', async () => {
      const target = `${root}/virtualmachines/vm1/start`;
      assert.equal(
        await world.refusal(target, { method: 'PUT', body: `{"a":"${'x'.repeat(1000)}"}` }),
        '413 Request entity too large: limit is 1000',
      );
      assert.match(
        await world.refusal(target, { method: 'PUT', body: '{' }),
        /^400 the request body is not JSON/,
      );
      assert.match(
        await world.refusal(target, { method: 'PUT', body: '[]' }),
        /^400 the request body is JSON but not/,
      );
    });

    it('authorize by verb, group, resource and subresource', async () => {
      const token = await world.server.newToken('limited');
      const client = world.server.clientOf(token);
      await assert.rejects(
        client.raw(`${root}/virtualmachineinstances/vm1/guestosinfo`),
        (error) =>
          StatusError.is(error, 'Forbidden') &&
          error.message ===
            'virtualmachineinstances.subresources.kubevirt.io "vm1" is forbidden: User "system:serviceaccount:default:limited" cannot get resource "virtualmachineinstances/guestosinfo" in API group "subresources.kubevirt.io" in the namespace "default"',
      );
      await assert.rejects(client.connect(console), (error) => StatusError.is(error, 'Forbidden'));
      await grant(world.server, 'limited', [
        'virtualmachineinstances/vnc',
        'virtualmachineinstances/guestosinfo',
      ]);
      await client.raw(`${root}/virtualmachineinstances/vm1/guestosinfo`);
      // One subresource in another needs both.
      await assert.rejects(
        client.text(`${root}/virtualmachineinstances/vm1/vnc/screenshot`),
        /cannot get resource "virtualmachineinstances\/vnc\/screenshot"/,
      );
    });

    it('are counted under their names', () => {
      assert.match(
        world.metrics.text(),
        /apiserver_request_total\{verb="PUT",group="subresources.kubevirt.io",version="v1",resource="virtualmachines",subresource="start".*code="202"\} 1/,
      );
      assert.doesNotMatch(world.metrics.text(), /subresource="fly"/);
    });
  });

  describe('admission', () => {
    const configMaps = '/api/v1/namespaces/default/configmaps';

    it('changes what is stored, also in a dry run', async () => {
      const dry = await world.server.client.send(
        post(`${configMaps}?dryRun=All`, { metadata: { name: 'a' } }),
      );
      assert.match(await dry.text(), /"labels":\{"sample":"seen"\}/);
      await world.server.client.send(
        post(configMaps, { metadata: { name: 'a' }, data: { address: '10.0.0.1' } }),
      );
      const stored = await world.server.client.raw(`${configMaps}/a`);
      assert.deepEqual((stored['metadata'] as JsonObject)['labels'], { sample: 'seen' });
      const bare = JSON.stringify({ metadata: { name: 'a' }, data: { address: '10.0.0.1' } });
      const updated = await world.server.client.send({
        method: 'PUT',
        target: `${configMaps}/a`,
        body: bare,
      });
      assert.match(await updated.text(), /"labels":\{"sample":"seen"\}/);
    });

    it('refuses with the way out, looking at what is there now', async () => {
      const twin = { metadata: { name: 'b' }, data: { address: '10.0.0.1' } };
      assert.equal(
        await world.refusal(configMaps, post(configMaps, twin)),
        '409 the address is used by a. Choose another one, or delete that object.',
      );
      const answer = await world.server.client.send(post(`${configMaps}?dryRun=All`, twin));
      assert.equal(answer.status, 409);
      await world.server.client.send({ method: 'DELETE', target: `${configMaps}/a` });
      assert.equal((await world.server.client.send(post(configMaps, twin))).status, 201);
    });

    it('is asked before a deletion', async () => {
      await world.server.client.send(
        post(configMaps, { metadata: { name: 'kept', annotations: { 'sample/protected': '' } } }),
      );
      assert.equal(
        await world.refusal(`${configMaps}/kept`, { method: 'DELETE' }),
        '403 it is protected. Remove the annotation sample/protected first.',
      );
      assert.match(await world.refusal(configMaps, { method: 'DELETE' }), /^403 it is protected/);
    });

    it('is asked for custom resources in the same way', async () => {
      await world.server.client.send(
        post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', machineDefinition),
      );
      const machines = '/apis/example.com/v1/machines';
      await until(
        async () => (await world.server.client.send({ method: 'GET', target: machines })).status === 200,
      );
      const kind = { apiVersion: 'example.com/v1', kind: 'Machine' };
      const made = await world.server.client.send(post(machines, { ...kind, metadata: { name: 'm' } }));
      assert.match(await made.text(), /"labels":\{"sample":"seen"\}/);
      assert.equal(made.headers['warning'], '299 - "sample machines do nothing"');
      assert.equal(
        await world.refusal(machines, post(machines, { ...kind, metadata: { name: 'webhook' } })),
        '400 admission webhook "m" denied the request: no',
      );
      assert.match(
        await world.refusal(machines, post(machines, { ...kind, metadata: { name: 'mistake' } })),
        /^500 .*sample-mistake looks at secrets: name it among its reads/,
      );
      const refused = await world.server.client.send(post(machines, { ...kind, metadata: { name: 'x-m' } }));
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

const machineDefinition = {
  metadata: { name: 'machines.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'machines', singular: 'machine', kind: 'Machine', listKind: 'MachineList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
