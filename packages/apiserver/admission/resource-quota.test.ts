import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import type { TestServer } from '@sheaf/testkit';
import {
  type Fields,
  kinds,
  named,
  outcome,
  pod,
  resource,
  startAdmissionServer,
} from './admission-server.fixture.ts';

const quotas = resource('resourcequotas', 'ResourceQuota');

describe('ResourceQuota', () => {
  const servers: TestServer[] = [];
  let test: TestServer;
  beforeEach(async () => servers.push((test = await startAdmissionServer())));
  after(() => Promise.all(servers.map((server) => server.close())));

  const limit = (name: string, hard: Fields, more: Fields = {}) =>
    test.client.create(quotas, named(name, { spec: { hard, ...more } }));
  const container = (cpu?: string, memory?: string): Fields => ({
    name: 'c',
    image: 'x:1',
    resources: { requests: { ...(cpu && { cpu }), ...(memory && { memory }) } },
  });
  const makePod = (name: string, ...containers: Fields[]) =>
    outcome(test.client.create(kinds.pods, pod(name, containers.length > 0 ? { containers } : {})));
  const makeMap = (name: string) => outcome(test.client.create(kinds.configMaps, named(name)));

  it('counts objects, and frees what is deleted', async () => {
    await limit('q', { 'count/configmaps': '2' });
    assert.deepEqual([await makeMap('a'), await makeMap('b')], ['ok', 'ok']);
    assert.equal(
      await makeMap('c'),
      '403 configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2',
    );
    await test.client.delete(kinds.configMaps, { namespace: 'default', name: 'a' });
    assert.equal(await makeMap('c'), 'ok');
  });

  it('holds whatever comes at once to the limit, and refuses none that fits', async () => {
    await limit('q', { configmaps: '10', pods: '5' });
    const maps = await Promise.all(Array.from({ length: 30 }, (_, index) => makeMap(`m${index}`)));
    assert.equal(maps.filter((text) => text === 'ok').length, 10);
    const pods = await Promise.all(Array.from({ length: 20 }, (_, index) => makePod(`p${index}`)));
    assert.equal(pods.filter((text) => text === 'ok').length, 5);
    for (const name of ['m0', 'm1', 'm2'])
      await test.client.delete(kinds.configMaps, { namespace: 'default', name });
    const fitting = await Promise.all(['x', 'y', 'z'].map((name) => makeMap(name)));
    assert.deepEqual(fitting, ['ok', 'ok', 'ok']);
  });

  it('forgets what failed or was a rehearsal', async () => {
    await limit('q', { configmaps: '1' });
    await test.client.create(kinds.configMaps, named('dry'), { dryRun: true });
    assert.match(await outcome(test.client.create(kinds.configMaps, named('Bad_Name'))), /^422/);
    assert.equal(await makeMap('a'), 'ok');
  });

  it('adds up what pods ask for, and wants them to say it', async () => {
    await limit('compute', { 'requests.cpu': '1', memory: '1Gi' });
    assert.equal(await makePod('a', container('600m', '100Mi')), 'ok');
    assert.equal(
      await makePod('b', container('600m', '100Mi')),
      '403 pods "b" is forbidden: exceeded quota: compute, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
    assert.equal(
      await makePod('c'),
      '403 pods "c" is forbidden: failed quota: compute: must specify memory for: c; requests.cpu for: c',
    );
    await test.client.patch(
      kinds.pods,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { status: { phase: 'Succeeded' } }, subresource: 'status' },
    );
    assert.equal(await makePod('b', container('600m', '100Mi')), 'ok', 'pods that have ended use nothing');
  });

  it('is about the pods of its scopes alone', async () => {
    await limit('q', { pods: '0' }, { scopes: ['BestEffort'] });
    assert.match(await makePod('a'), /exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0$/);
    assert.equal(await makePod('b', container('1')), 'ok');
  });

  it('counts node ports of services, also when they change', async () => {
    await limit('q', { services: '2', 'services.nodeports': '1' });
    const service = (type: string) =>
      named('s', { spec: { type, ports: [{ port: 80 }], selector: { a: 'b' } } });
    await test.client.create(kinds.services, service('ClusterIP'));
    await test.client.create(kinds.services, {
      ...service('NodePort'),
      metadata: { name: 'other', namespace: 'default' },
    });
    assert.equal(
      await outcome(test.client.update(kinds.services, service('NodePort'))),
      '403 services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
    );
  });
});
