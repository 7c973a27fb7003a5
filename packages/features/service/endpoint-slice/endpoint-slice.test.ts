import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EndpointSlice, Pod, Service } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { register } from '../register.ts';
import { planSlices } from './plan.ts';

const labels = { app: 'web' };

function pod(name: string, address: string, { isReady = true, port = 8080 } = {}): Pod {
  return {
    metadata: { namespace: 'default', name, uid: name, labels },
    spec: {
      nodeName: 'n',
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: port }] }],
    },
    status: {
      phase: 'Running',
      podIP: address,
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  };
}

const service: Service = {
  metadata: { namespace: 'default', name: 'web', uid: 's' },
  spec: {
    selector: labels,
    clusterIP: '10.43.0.9',
    ports: [{ name: 'web', port: 80, targetPort: 'http', protocol: 'TCP' }],
  },
};

it('the pods of a service are in its slices, as they come and go', async () => {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await client.create(resources.serviceAccounts, { metadata: { namespace: 'default', name: 'default' } });
  register(manager);
  void manager.start();
  const slices = async (): Promise<readonly EndpointSlice[]> =>
    (await client.list(resources.endpointSlices, { namespace: 'default' })).items;
  const faces = async (): Promise<readonly string[]> =>
    (await slices()).flatMap(({ endpoints, ports }) =>
      endpoints.map(({ addresses, conditions }) => `${addresses[0]}:${ports[0]?.port} ${conditions?.ready}`),
    );
  const until = (text: string): Promise<void> =>
    settle({ clock, until: async () => (await faces()).join() === text });
  try {
    const { metadata: _, ...rest } = service;
    await client.create(resources.services, { ...rest, metadata: { namespace: 'default', name: 'web' } });
    await settle({ clock, until: async () => (await slices()).length === 1 });
    const add = async (each: Pod): Promise<void> => {
      const { metadata, spec, status } = each;
      const made = await client.create(resources.pods, { metadata: { ...metadata, uid: '' }, spec });
      await client.updateStatus(resources.pods, { ...made, ...(status && { status }) });
    };
    await add(pod('a', '10.42.0.2'));
    await until('10.42.0.2:8080 true');
    await add(pod('b', '10.42.0.3', { isReady: false }));
    await until('10.42.0.2:8080 true,10.42.0.3:8080 false');
    const [slice] = await slices();
    assert.equal(slice?.metadata.labels?.['kubernetes.io/service-name'], 'web');
    assert.deepEqual(
      [slice.metadata.ownerReferences?.[0]?.kind, slice.endpoints[0]?.targetRef?.name],
      ['Service', 'a'],
    );
    await client.delete(resources.pods, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 });
    await until('10.42.0.3:8080 false');
    await client.delete(resources.endpointSlices, { namespace: 'default', name: slice.metadata.name ?? '' });
    await settle({ clock, until: async () => (await slices()).length === 1 });
  } finally {
    await manager.stop();
    await close();
  }
});

it('slices are split by ports and by size, and change as little as can be', () => {
  const many = Array.from({ length: 150 }, (_, index) =>
    pod(`p${String(index).padStart(3, '0')}`, `10.42.1.${index}`),
  );
  const first = planSlices({ service, pods: many, slices: [] });
  assert.deepEqual(
    first.create.map(({ endpoints }) => endpoints.length),
    [100, 50],
  );
  const slices = first.create.map((slice, index) => ({
    ...slice,
    metadata: { ...slice.metadata, name: `web-${index}` },
  }));
  assert.deepEqual(planSlices({ service, pods: many, slices }), { create: [], update: [], delete: [] });
  const less = planSlices({ service, pods: many.slice(1), slices });
  assert.deepEqual(
    less.update.map(({ metadata, endpoints }) => [metadata.name, endpoints.length]),
    [['web-0', 99]],
  );
  const other = planSlices({ service, pods: [...many, pod('z', '10.42.2.1', { port: 9090 })], slices });
  assert.deepEqual(
    other.create.map(({ ports }) => ports[0]?.port),
    [9090],
  );
  assert.deepEqual([other.update, other.delete], [[], []]);
  const gone = planSlices({
    service: { ...service, spec: { ...service.spec, type: 'ExternalName' } },
    pods: many,
    slices,
  });
  assert.equal(gone.delete.length, 2);
  const headless: Service = {
    ...service,
    spec: { ...service.spec, clusterIP: 'None', publishNotReadyAddresses: true },
  };
  const [slice] = planSlices({
    service: headless,
    pods: [pod('a', '10.42.0.2', { isReady: false })],
    slices: [],
  }).create;
  assert.equal(slice?.metadata.labels?.['service.kubernetes.io/headless'], '');
  assert.deepEqual(slice.endpoints[0]?.conditions, { ready: true, serving: true, terminating: false });
});
