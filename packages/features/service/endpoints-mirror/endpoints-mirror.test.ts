import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice, Endpoints, Service } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { register } from '../register.ts';
import { type MirrorSteps, planMirror } from './plan.ts';

const ref = { namespace: 'default', name: 'db' };
const service: Service = { metadata: ref, spec: { clusterIP: '10.43.0.9', ports: [{ port: 5432 }] } };
const endpoints: Endpoints = {
  metadata: { ...ref, uid: 'e' },
  subsets: [
    {
      addresses: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }],
      notReadyAddresses: [{ ip: '192.0.2.2' }],
      ports: [{ port: 5432 }],
    },
  ],
};

function steps(
  more: Partial<Endpoints['metadata']>,
  slices: readonly EndpointSlice[] = [],
  of = service,
): MirrorSteps {
  return planMirror({
    service: of,
    endpoints: { ...endpoints, metadata: { ...endpoints.metadata, ...more } },
    slices,
  });
}

describe('planMirror', () => {
  it('tells Endpoints of users by family and by who is ready', () => {
    const { create } = steps({});
    assert.deepEqual(
      create.map(({ addressType, ports, endpoints: all }) => [addressType, ports, all]),
      [
        [
          'IPv4',
          [{ name: '', protocol: 'TCP', port: 5432 }],
          [
            { addresses: ['192.0.2.1'], conditions: { ready: true } },
            { addresses: ['192.0.2.2'], conditions: { ready: false } },
          ],
        ],
        [
          'IPv6',
          [{ name: '', protocol: 'TCP', port: 5432 }],
          [{ addresses: ['2001:db8::1'], conditions: { ready: true } }],
        ],
      ],
    );
    assert.deepEqual(steps({}, create), { create: [], update: [], delete: [] });
  });

  it('leaves alone what is not to be told, and takes away what is not any more', () => {
    const { create: slices } = steps({});
    const selecting = { ...service, spec: { ...service.spec, selector: { app: 'db' } } };
    for (const gone of [
      steps({ labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }, slices),
      steps({ annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }, slices),
      steps({}, slices, selecting),
      planMirror({ service, endpoints: undefined, slices }),
      planMirror({ service: undefined, endpoints, slices }),
    ])
      assert.deepEqual(gone, { create: [], update: [], delete: slices });
  });
});

it('Endpoints that a user writes are followed, as they change and until they go', async () => {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager);
  void manager.start();
  const told = async (): Promise<string> => {
    const { items } = await client.list(resources.endpointSlices, { namespace: 'default' });
    return items.flatMap((slice) => slice.endpoints.flatMap(({ addresses }) => addresses)).join();
  };
  const write = (ip: string): Endpoints => ({
    metadata: ref,
    subsets: [{ addresses: [{ ip }], ports: [{ port: 5432 }] }],
  });
  try {
    await client.create(resources.services, service);
    await client.create(resources.endpoints, write('192.0.2.1'));
    await settle({ clock, until: async () => (await told()) === '192.0.2.1' });
    const current = await client.get(resources.endpoints, ref);
    await client.update(resources.endpoints, {
      ...current,
      ...write('192.0.2.3'),
      metadata: current.metadata,
    });
    await settle({ clock, until: async () => (await told()) === '192.0.2.3' });
    await client.delete(resources.endpoints, ref);
    await settle({ clock, until: async () => (await told()) === '' });
    for (const { counts } of manager.controllers) assert.deepEqual([...counts.failing], []);
  } finally {
    await manager.stop();
    await close();
  }
});
