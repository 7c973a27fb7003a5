import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { parentOf, planAddress } from './plan.ts';
import { register } from './register.ts';

const network = '10.43.0.0/16';
const ports = [{ port: 80 }];

function service(name: string, spec: object = {}): KubeObject {
  return { metadata: { name, namespace: 'default' }, spec: { ports, ...spec } };
}

async function withControllers(
  run: (parts: { client: Client; until(check: () => Promise<boolean>): Promise<void> }) => Promise<void>,
): Promise<void> {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager, { network });
  void manager.start();
  try {
    await run({ client, until: (check) => settle({ clock, until: check }) });
    for (const { counts } of manager.controllers) assert.deepEqual([...counts.failing], []);
  } finally {
    await manager.stop();
    await close();
  }
}

async function shown(client: Client): Promise<string[]> {
  const { items } = await client.list(resources.ipAddresses, {});
  return items.map((item) => `${item.metadata.name} ${parentOf(item)?.name ?? '-'}`).sort();
}

describe('service addresses', () => {
  it('appear with their Services, are made again, and go with them', () =>
    withControllers(async ({ client, until }) => {
      await client.create(resources.services, service('a', { clusterIP: '10.43.0.20' }));
      await client.create(resources.services, service('headless', { clusterIP: 'None' }));
      await client.create(resources.services, service('b', { clusterIP: '10.43.0.21' }));
      const both = ['10.43.0.20 a', '10.43.0.21 b'].join();
      await until(async () => (await shown(client)).join() === both);
      const { metadata, spec } = await client.get(resources.ipAddresses, { name: '10.43.0.20' });
      assert.deepEqual(metadata.labels, {
        'ipaddress.kubernetes.io/ip-family': 'IPv4',
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      });
      assert.deepEqual(spec, { parentRef: { name: 'a', namespace: 'default', resource: 'services' } });
      await client.delete(resources.ipAddresses, { name: '10.43.0.21' });
      await until(async () => (await shown(client)).join() === both);
      await client.delete(resources.services, { namespace: 'default', name: 'a' });
      await client.create(resources.services, service('c', { clusterIP: '10.43.0.20' }));
      await until(async () => (await shown(client)).join() === '10.43.0.20 c,10.43.0.21 b');
      await client.delete(resources.services, { namespace: 'default', name: 'c' });
      await until(async () => (await shown(client)).join() === '10.43.0.21 b');
    }));

  it('of others are left alone, and no Service gets them', () =>
    withControllers(async ({ client, until }) => {
      const parentRef = { group: 'example.com', resource: 'gateways', name: 'g' };
      await client.create(resources.ipAddresses, { metadata: { name: '10.43.0.30' }, spec: { parentRef } });
      await assert.rejects(
        client.create(resources.services, service('a', { clusterIP: '10.43.0.30' })),
        /provided IP is already allocated/,
      );
      await client.create(resources.services, service('a', { clusterIP: '10.43.0.31' }));
      await until(async () => (await shown(client)).join() === '10.43.0.30 -,10.43.0.31 a');
      await client.delete(resources.ipAddresses, { name: '10.43.0.30' });
      await client.create(resources.services, service('b', { clusterIP: '10.43.0.30' }));
      await until(async () => (await shown(client)).join() === '10.43.0.30 b,10.43.0.31 a');
    }));

  it('never take away an IPAddress that is on its way out or belongs to its Service', () => {
    const owner = { namespace: 'default', name: 'a' };
    const step = planAddress('fd00::1', owner, undefined);
    assert.ok(step.action === 'create');
    assert.equal(step.object.metadata.labels?.['ipaddress.kubernetes.io/ip-family'], 'IPv6');
    assert.equal(planAddress('fd00::1', owner, step.object).action, 'none');
    assert.equal(planAddress('fd00::1', undefined, step.object).action, 'delete');
    const going = {
      ...step.object,
      metadata: { ...step.object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    assert.equal(planAddress('fd00::1', undefined, going).action, 'none');
  });
});

it('one ServiceCIDR is ready; another one says that it is not in use', () =>
  withControllers(async ({ client, until }) => {
    const make = (name: string, range: string): Promise<KubeObject> =>
      client.create(resources.serviceCidrs, { metadata: { name }, spec: { cidrs: [range] } });
    await make('kubernetes', network);
    await make('further', '10.99.0.0/24');
    const conditionOf = async (name: string): Promise<unknown> => {
      const { status } = await client.get(resources.serviceCidrs, { name });
      return (status as { conditions?: unknown[] } | undefined)?.conditions?.[0];
    };
    await until(async () => (await conditionOf('kubernetes')) !== undefined);
    await until(async () => (await conditionOf('further')) !== undefined);
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    assert.deepEqual(await conditionOf('kubernetes'), {
      type: 'Ready',
      status: 'True',
      reason: '',
      message: 'Kubernetes default Service CIDR is ready',
      lastTransitionTime,
    });
    assert.deepEqual(await conditionOf('further'), {
      type: 'Ready',
      status: 'False',
      reason: 'NotInUse',
      message: 'Services get their addresses from 10.43.0.0/16 only; delete this ServiceCIDR',
      lastTransitionTime,
    });
  }));
