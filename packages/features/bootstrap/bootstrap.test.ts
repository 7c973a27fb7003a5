import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Logger, silentLogger } from '@sheaf/base';
import { refOf, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import type { ControlPlaneFacts } from './desired.ts';
import { planEnsure } from './plan.ts';
import { bootstrap, type PolicyWrite, register } from './register.ts';

const facts: ControlPlaneFacts = {
  serviceAddress: '10.43.0.1',
  serviceNetwork: '10.43.0.0/16',
  endpoint: { address: '192.0.2.7', port: 6443 },
  port: 6443,
  authority: 'authority',
  frontProxyAuthority: 'front proxy authority',
  url: 'https://192.0.2.7:6443',
};

const role: PolicyWrite = {
  resource: 'clusterroles',
  operation: 'create',
  object: { metadata: { name: 'system:test' }, rules: [] },
};

function failingLogger(errors: unknown[]): Logger {
  return { ...silentLogger, error: (message, fields) => errors.push([message, String(fields?.['cause'])]) };
}

const service = { namespace: 'default', name: 'kubernetes' };

describe('bootstrap', () => {
  it('makes what clients expect, and changes nothing the second time', async () => {
    const { client, store, close } = await startTestServer({ clock: new TestClock() });
    const errors: unknown[] = [];
    const options = { facts, logger: failingLogger(errors) };
    await bootstrap(client, { ...options, planPolicy: () => Promise.resolve([role]) });
    assert.deepEqual(errors, []);
    const namespaces = (await client.list(resources.namespaces)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(namespaces, ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    const { spec } = await client.get(resources.services, service);
    assert.equal((spec as { clusterIP?: string }).clusterIP, '10.43.0.1');
    assert.equal((await client.list(resources.flowSchemas)).items.length, 11);
    assert.equal((await client.list(resources.priorityLevels)).items.length, 8);
    const { revision } = store;
    await bootstrap(client, { ...options, planPolicy: () => Promise.resolve([]) });
    assert.equal(store.revision, revision);
    await close();
  });

  it('follows the address of the server, and tells what is refused', async () => {
    const { client, close } = await startTestServer({ clock: new TestClock() });
    const errors: unknown[] = [];
    const options = { logger: failingLogger(errors), planPolicy: () => Promise.resolve([]) };
    await bootstrap(client, { facts, ...options });
    await bootstrap(client, {
      facts: { ...facts, endpoint: { address: '192.0.2.8', port: 443 } },
      ...options,
    });
    const slice = await client.get(resources.endpointSlices, service);
    assert.deepEqual((slice['endpoints'] as { addresses: string[] }[])[0]?.addresses, ['192.0.2.8']);
    const refused = { ...role, object: { metadata: { name: 'a/b' }, rules: [] } };
    await bootstrap(client, { facts, ...options, planPolicy: () => Promise.resolve([refused]) });
    assert.equal(errors.length, 1);
    await close();
  });

  it('makes again what someone removes', async () => {
    const clock = new TestClock();
    const { client, close } = await startTestServer({ clock });
    await bootstrap(client, { facts, logger: silentLogger, planPolicy: () => Promise.resolve([]) });
    const manager = new Manager({ client, clock, random: new SeededRandom(1), logger: silentLogger });
    register(manager, { facts });
    void manager.start();
    const lost = [
      [resources.services, service],
      [resources.endpointSlices, service],
      [resources.configMaps, { namespace: 'kube-public', name: 'cluster-info' }],
    ] as const;
    for (const [resource, ref] of lost) {
      await settle({ clock, until: () => manager.informer(resources.namespaces).isSynced });
      await client.delete(resource, ref);
      await settle({ clock, until: async () => (await client.find(resource, ref)) !== undefined });
    }
    await manager.stop();
    await close();
  });
});

describe('planEnsure', () => {
  const desired = {
    resource: resources.configMaps,
    object: { metadata: { name: 'a', namespace: 'default' }, data: { x: '1' }, more: 'ours at first' },
    sections: ['data'],
  };

  it('restores its own sections and nothing else', () => {
    const existing = {
      metadata: { name: 'a', namespace: 'default', labels: { b: 'c' } },
      data: {},
      more: 'theirs',
    };
    const step = planEnsure(desired, existing);
    assert.ok(step.action === 'update');
    assert.deepEqual(step.object, { ...existing, data: { x: '1' } });
    assert.deepEqual(refOf(step.object), { namespace: 'default', name: 'a' });
    assert.equal(planEnsure(desired, step.object).action, 'none');
  });
});
