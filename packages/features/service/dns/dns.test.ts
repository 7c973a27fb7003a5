import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice, Pod, Service } from '@sheaf/api/workload/index';
import type { NameAnswer, NameRecord } from '@sheaf/ports';
import { type ClusterView, planAnswer } from './plan.ts';

const zone = 'cluster.local';

function service(name: string, spec: Partial<Service['spec']>): Service {
  return { metadata: { namespace: 'shop', name }, spec: { ports: [{ name: 'http', port: 80 }], ...spec } };
}

const services = [
  service('web', { clusterIP: '10.43.0.5', clusterIPs: ['10.43.0.5'] }),
  service('data', { clusterIP: 'None' }),
  service('lonely', { clusterIP: 'None' }),
  service('far', { type: 'ExternalName', externalName: 'db.example.' }),
];

const slices: readonly EndpointSlice[] = [
  {
    metadata: { namespace: 'shop', name: 'data-1' },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [
      { addresses: ['10.42.0.2'], hostname: 'data-0' },
      { addresses: ['10.42.0.3'], conditions: { ready: true } },
      { addresses: ['10.42.0.4'], conditions: { ready: false } },
    ],
  },
  { metadata: {}, addressType: 'IPv6', ports: [], endpoints: [{ addresses: ['fd00::1'] }] },
];

const pods: readonly Pod[] = [
  { metadata: { namespace: 'shop', name: 'one' }, spec: { containers: [] }, status: { podIP: '10.42.0.9' } },
];

const view: ClusterView = {
  hasNamespace: (namespace) => namespace === 'shop',
  service: (namespace, name) =>
    services.find(({ metadata }) => metadata.name === name && namespace === 'shop'),
  services: () => services,
  slices: (_, name) => (name === 'data' ? slices : []),
  pods: () => pods,
};

function answer(name: string, type = 'A'): NameAnswer {
  return planAnswer({ name, type }, { zone, view });
}

function textOf(record: NameRecord): string {
  const { name, type, ...data } = record;
  return `${name} ${type} ${Object.values(data).join(' ')}`;
}

/** Its records, or what else it is. */
function told(name: string, type = 'A'): readonly string[] | string {
  const found = answer(name, type);
  return found.kind === 'records' ? found.records.map(textOf) : found.kind;
}

describe('planAnswer', () => {
  it('knows Services by name and by address', () => {
    assert.deepEqual(told('web.shop.svc.cluster.local'), ['web.shop.svc.cluster.local A 10.43.0.5']);
    assert.deepEqual(told('web.shop.svc.cluster.local', 'AAAA'), [], 'the name is there, the type is not');
    assert.deepEqual(told('5.0.43.10.in-addr.arpa', 'PTR'), [
      '5.0.43.10.in-addr.arpa PTR web.shop.svc.cluster.local',
    ]);
    assert.equal(told('none.shop.svc.cluster.local'), 'absent');
    assert.equal(told('web.other.svc.cluster.local'), 'absent');
    assert.equal(told('one.web.shop.svc.cluster.local'), 'absent');
  });

  it('tells the ports of Services, with the addresses that are asked for next', () => {
    const name = '_http._tcp.web.shop.svc.cluster.local';
    assert.deepEqual(answer(name, 'SRV'), {
      kind: 'records',
      zone,
      records: [{ name, type: 'SRV', weight: 100, port: 80, target: 'web.shop.svc.cluster.local' }],
      further: [{ name: 'web.shop.svc.cluster.local', type: 'A', address: '10.43.0.5' }],
    });
    assert.deepEqual(told(name), []);
    assert.deepEqual(told('_tcp.web.shop.svc.cluster.local'), []);
    for (const absent of ['_udp', '_http._udp', '_ftp._tcp', 'a._http._tcp', '_http.tcp'])
      assert.equal(told(`${absent}.web.shop.svc.cluster.local`, 'SRV'), 'absent', absent);
  });

  it('knows who is behind a Service without an address: those that are ready', () => {
    assert.deepEqual(told('data.shop.svc.cluster.local'), [
      'data.shop.svc.cluster.local A 10.42.0.2',
      'data.shop.svc.cluster.local A 10.42.0.3',
    ]);
    assert.deepEqual(told('data-0.data.shop.svc.cluster.local'), [
      'data-0.data.shop.svc.cluster.local A 10.42.0.2',
    ]);
    assert.deepEqual(told('10-42-0-3.data.shop.svc.cluster.local'), [
      '10-42-0-3.data.shop.svc.cluster.local A 10.42.0.3',
    ]);
    assert.equal(told('10-42-0-4.data.shop.svc.cluster.local'), 'absent');
    assert.deepEqual(told('_http._tcp.data.shop.svc.cluster.local', 'SRV'), [
      '_http._tcp.data.shop.svc.cluster.local SRV 50 8080 data-0.data.shop.svc.cluster.local',
      '_http._tcp.data.shop.svc.cluster.local SRV 50 8080 10-42-0-3.data.shop.svc.cluster.local',
    ]);
    assert.deepEqual(told('2.0.42.10.in-addr.arpa', 'PTR'), [
      '2.0.42.10.in-addr.arpa PTR data-0.data.shop.svc.cluster.local',
    ]);
    assert.deepEqual(told('lonely.shop.svc.cluster.local'), []);
  });

  it('leads on to what is elsewhere', () => {
    assert.deepEqual(answer('far.shop.svc.cluster.local'), { kind: 'alias', target: 'db.example' });
    assert.equal(told('a.far.shop.svc.cluster.local'), 'absent');
    for (const name of ['example.org', 'cluster.local.example', 'xcluster.local', '9.9.9.9.in-addr.arpa', ''])
      assert.equal(told(name), 'elsewhere', name);
  });

  it('knows pods by their addresses, and only those', () => {
    assert.deepEqual(told('10-42-0-9.shop.pod.cluster.local'), [
      '10-42-0-9.shop.pod.cluster.local A 10.42.0.9',
    ]);
    for (const name of [
      '10-42-0-8.shop.pod',
      'undefined.shop.pod',
      'a.10-42-0-9.shop.pod',
      '10-42-0-9.other.pod',
    ])
      assert.equal(told(`${name}.cluster.local`), 'absent', name);
  });

  it('knows its own zone, and asks for patience as long as it does not know the cluster', () => {
    assert.match(String(told(zone, 'SOA')), /^cluster\.local SOA ns\.dns\.cluster\.local/);
    assert.deepEqual(told(zone, 'NS'), ['cluster.local NS ns.dns.cluster.local']);
    assert.deepEqual(told('dns-version.cluster.local', 'TXT'), ['dns-version.cluster.local TXT 1.1.0']);
    for (const name of ['svc', 'pod', 'shop.svc', 'shop.pod'])
      assert.deepEqual(told(`${name}.cluster.local`), [], name);
    assert.equal(told('other.cluster.local'), 'absent');
    const question = { name: 'web.shop.svc.cluster.local', type: 'A' };
    assert.equal(planAnswer(question, { zone, view: undefined }).kind, 'later');
    assert.equal(planAnswer({ name: 'example.org', type: 'A' }, { zone, view: undefined }).kind, 'elsewhere');
  });
});
