import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice, Service } from '@sheaf/api/workload/index';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { SimulatedServiceHost, SimulatedServiceProxy } from '@sheaf/testkit/services/index';
import { planServices } from './plan.ts';
import { register } from './register.ts';

const nodeName = 'here';
const parts = new Map([['default/kubernetes', { address: '127.0.0.1', port: 6443 }]]);

function service(spec: Partial<Service['spec']> = {}, name = 'web'): Service {
  return {
    metadata: { namespace: 'default', name, uid: name },
    spec: { type: 'ClusterIP', clusterIP: '10.43.0.5', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  };
}

function slice(endpoints: EndpointSlice['endpoints'], more: Partial<EndpointSlice> = {}): EndpointSlice {
  return {
    metadata: { namespace: 'default', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints,
    ...more,
  };
}

function plan(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
): ReturnType<typeof planServices> {
  return planServices({ services, slices, nodeName, parts });
}

function backendsOf(spec: Partial<Service['spec']>, slices: readonly EndpointSlice[]): readonly string[] {
  const [planned] = plan([service(spec)], slices);
  return (
    planned?.ports.flatMap(({ backends }) => backends.map(({ address, port }) => `${address}:${port}`)) ?? []
  );
}

describe('planServices', () => {
  it('sends to who is ready, else to who still serves, never to somebody else', () => {
    const ready = { addresses: ['10.42.0.3'], conditions: { ready: true } };
    const unsaid = { addresses: ['10.42.0.2'] };
    const starting = { addresses: ['10.42.0.4'], conditions: { ready: false, serving: false } };
    const leaving = {
      addresses: ['10.42.0.5'],
      conditions: { ready: false, serving: true, terminating: true },
    };
    assert.deepEqual(backendsOf({}, [slice([ready, unsaid, starting, leaving])]), [
      '10.42.0.2:8080',
      '10.42.0.3:8080',
    ]);
    assert.deepEqual(backendsOf({}, [slice([starting, leaving])]), ['10.42.0.5:8080']);
    assert.deepEqual(backendsOf({}, [slice([starting])]), []);
    assert.deepEqual(backendsOf({}, [slice([ready], { addressType: 'IPv6' })]), []);
    assert.deepEqual(
      backendsOf({}, [slice([ready], { ports: [{ name: 'other', port: 1, protocol: 'TCP' }] })]),
      [],
    );
  });

  it('never leads to the loopback, metadata services or nowhere, whoever writes that', () => {
    const addresses = [
      '127.0.0.1',
      '127.9.9.9',
      '169.254.169.254',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      'a.example',
    ];
    assert.deepEqual(backendsOf({}, [slice(addresses.map((address) => ({ addresses: [address] })))]), []);
    assert.deepEqual(
      plan([service({ externalIPs: [...addresses, '192.0.2.9'] })], [])[0]?.externalAddresses,
      ['192.0.2.9'],
    );
  });

  it('keeps to this node where that is wanted', () => {
    const both = [slice([{ addresses: ['10.42.0.2'], nodeName }, { addresses: ['192.0.2.7'] }])];
    assert.deepEqual(backendsOf({ internalTrafficPolicy: 'Local' }, both), ['10.42.0.2:8080']);
    const [planned] = plan(
      [
        service({
          type: 'NodePort',
          externalTrafficPolicy: 'Local',
          ports: [{ port: 80, nodePort: 30_080 }],
        }),
      ],
      both,
    );
    assert.deepEqual(planned?.ports, [
      {
        protocol: 'TCP',
        port: 80,
        nodePort: 30_080,
        backends: [
          { address: '10.42.0.2', port: 8080 },
          { address: '192.0.2.7', port: 8080 },
        ],
        outsideBackends: [{ address: '10.42.0.2', port: 8080 }],
      },
    ]);
  });

  it('leaves out who has no address, and who is led by another program', () => {
    const other = service({}, 'other');
    const labels = { 'service.kubernetes.io/service-proxy-name': 'theirs' };
    const services = [
      service({ clusterIP: 'None' }, 'headless'),
      service({ type: 'ExternalName', clusterIP: '' }, 'elsewhere'),
      { ...other, metadata: { ...other.metadata, labels } },
      service({ ports: [{ port: 9, protocol: 'SCTP' }] }),
    ];
    assert.deepEqual(
      plan(services, []).map(({ id, ports }) => [id, ports]),
      [['default/web', []]],
    );
  });

  it('answers for parts of this process inside only, and remembers clients as long as is said', () => {
    const [planned] = plan(
      [service({ sessionAffinity: 'ClientIP', ports: [{ port: 443 }] }, 'kubernetes')],
      [],
    );
    assert.deepEqual(planned, {
      id: 'default/kubernetes',
      addresses: ['10.43.0.5'],
      externalAddresses: [],
      affinitySeconds: 10_800,
      ports: [
        { protocol: 'TCP', port: 443, backends: [{ address: '127.0.0.1', port: 6443 }], outsideBackends: [] },
      ],
    });
  });
});

interface World {
  readonly client: Client;
  readonly host: SimulatedServiceHost;
  readonly until: (check: () => boolean | Promise<boolean>) => Promise<void>;
  readonly podChanges: () => void;
}

async function withProxy(use: (world: World) => Promise<void>): Promise<SimulatedServiceHost> {
  const clock = new TestClock();
  const random = new SeededRandom(5);
  const { client, close } = await startTestServer({ clock });
  const host = new SimulatedServiceHost(random);
  const listeners: (() => void)[] = [];
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await client.create(resources.nodes, { metadata: { name: nodeName } });
  const manager = new Manager({ client, clock, random, logger: silentLogger });
  register(manager, {
    proxy: new SimulatedServiceProxy(host, 'mark'),
    nodeName,
    onPodChange(listener) {
      listeners.push(listener);
      return { dispose: () => undefined };
    },
    parts: () => parts,
    ready: () => Promise.resolve(),
  });
  void manager.start();
  const until = (check: () => boolean | Promise<boolean>): Promise<void> =>
    settle({ clock, until: async () => await check() });
  try {
    await use({ client, host, until, podChanges: () => listeners.forEach((listener) => listener()) });
  } finally {
    await manager.stop();
    await close();
  }
  return host;
}

async function eventsOf(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(resources.events, { namespace: 'default' });
  return items.map(
    (event) => `${(event['involvedObject'] as { name: string }).name} ${String(event['reason'])}`,
  );
}

describe('the proxy of Services', () => {
  it('serves what the API says, again when somebody takes it away, and nothing after the last pod', async () => {
    const left = await withProxy(async ({ client, host, until }) => {
      await client.create(resources.services, service());
      await client.create(resources.endpointSlices, slice([{ addresses: ['10.42.0.2'] }]));
      const isServed = (): boolean =>
        host.lead('client', { protocol: 'TCP', address: '10.43.0.5', port: 80 })?.address === '10.42.0.2';
      await until(isServed);
      host.rules.clear();
      await until(isServed);
    });
    assert.equal(left.rules.size, 0);
  });

  it('says of a Service what stands against it, once, and serves the others', async () => {
    await withProxy(async ({ client, host, until, podChanges }) => {
      host.faults.refusal = ({ id }) => (id === 'default/bad' ? 'too much' : undefined);
      host.ports.set('TCP/30080', 'another program');
      await client.create(resources.services, service({ clusterIP: '10.43.0.6' }, 'bad'));
      const ports = [{ port: 80, nodePort: 30_080 }];
      await client.create(resources.services, service({ type: 'NodePort', ports }));
      await until(async () => (await eventsOf(client)).length === 2);
      assert.deepEqual((await eventsOf(client)).toSorted(), ['bad RulesRefused', 'web NodePortInUse']);
      const { items } = await client.list(resources.events, { namespace: 'default' });
      assert.ok(items.every((event) => /; (end the fault|end that program)/.test(String(event['message']))));
      for (let time = 0; time < 3; time++) podChanges();
      assert.deepEqual(
        (host.rules.get('mark') ?? []).map(({ id }) => id),
        ['default/web'],
      );
      assert.equal((await eventsOf(client)).length, 2);
    });
  });

  it('tells on the node that Services are not served, once a pod is there that misses them', async () => {
    await withProxy(async ({ client, host, until }) => {
      host.faults.obstacle = 'iptables is not installed';
      await client.create(resources.services, service());
      await client.create(resources.serviceAccounts, { metadata: { namespace: 'default', name: 'default' } });
      const pod = await client.create(resources.pods, {
        metadata: { namespace: 'default', name: 'one' },
        spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
      });
      assert.deepEqual(await eventsOf(client), []);
      await client.updateStatus(resources.pods, { ...pod, status: { podIP: '10.42.0.2' } });
      await until(async () => (await eventsOf(client)).length > 0);
      assert.deepEqual(await eventsOf(client), [`${nodeName} ServicesNotServed`]);
      delete host.faults.obstacle;
      await until(() => host.rules.has('mark'));
    });
  });
});
