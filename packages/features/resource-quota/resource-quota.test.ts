import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { type JsonValue, jsonEqual, parseQuantity, silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { planStatus, type QuotaMeasure } from './plan.ts';
import { register } from './register.ts';

const measure: QuotaMeasure = {
  usageOf: (resource) =>
    new Map([
      [resource, parseQuantity('1')],
      ['requests.cpu', parseQuantity('600m')],
    ]),
  isInScopes: (_quota, { metadata }) => metadata.labels?.['in'] !== undefined,
};

it('the status follows the objects in the namespace', async () => {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  for (const name of ['default', 'other']) await client.create(resources.namespaces, { metadata: { name } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager, { measure });
  void manager.start();
  const place = { namespace: 'default', name: 'few' };
  const statusIs = (status: JsonValue): Promise<void> =>
    settle({
      clock,
      until: async () =>
        jsonEqual(((await client.get(resources.resourceQuotas, place))['status'] ?? {}) as JsonValue, status),
    });
  const hard = { 'count/deployments.apps': '1', 'count/none.example.com': '1', secrets: '2', services: '3' };
  try {
    await client.create(resources.resourceQuotas, { metadata: place, spec: { hard } });
    await statusIs({ hard, used: { 'count/deployments.apps': '0', secrets: '0', services: '0' } });
    await client.create(resources.secrets, { metadata: { namespace: 'default', name: 'a' } });
    await client.create(resources.secrets, { metadata: { namespace: 'other', name: 'b' } });
    const spec = { ports: [{ port: 80 }] };
    await client.create(resources.services, { metadata: { namespace: 'default', name: 'a' }, spec });
    await statusIs({ hard, used: { 'count/deployments.apps': '0', secrets: '1', services: '1' } });
    await client.delete(resources.secrets, { namespace: 'default', name: 'a' });
    await statusIs({ hard, used: { 'count/deployments.apps': '0', secrets: '0', services: '1' } });
  } finally {
    await manager.stop();
    await close();
  }
});

it('pods are summed up, those in the scopes of the quota alone', () => {
  const pods: KubeObject[] = [{ metadata: { labels: { in: 'yes' } } }, { metadata: {} }];
  const hard = { 'requests.cpu': '2000m', pods: '5', 'count/pods': '5', secrets: '1' };
  const facts = { objects: () => pods, measure };
  const whole = planStatus({ metadata: {}, spec: { hard } }, facts);
  assert.deepEqual(whole?.['status'], {
    hard: { ...hard, 'requests.cpu': '2' },
    used: { 'requests.cpu': '1200m', pods: '2', 'count/pods': '2', secrets: '2' },
  });
  const scoped = planStatus({ metadata: {}, spec: { hard, scopes: ['BestEffort'] } }, facts);
  assert.ok(scoped);
  assert.deepEqual((scoped['status'] as { used: unknown }).used, {
    'requests.cpu': '600m',
    pods: '1',
    'count/pods': '1',
    secrets: '0',
  });
  assert.equal(whole && planStatus(whole, facts), undefined);
});
