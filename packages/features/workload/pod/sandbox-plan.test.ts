import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '@sheaf/api/workload/index';
import type { SandboxDns } from '@sheaf/ports';
import { planSandboxSpec } from './sandbox-plan.ts';

const names = {
  dnsServers: ['10.43.0.10'],
  domain: 'cluster.local',
  hostSearches: ['host.example', 'cluster.local'],
};
const cluster: SandboxDns = {
  servers: ['10.43.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'host.example'],
  options: ['ndots:5'],
};

function dnsOf(
  spec: Partial<Pod['spec']>,
  known: Parameters<typeof planSandboxSpec>[2] = names,
): SandboxDns | undefined {
  const pod: Pod = {
    metadata: { namespace: 'shop', name: 'web', uid: 'u' },
    spec: { containers: [], ...spec },
  };
  return planSandboxSpec(pod, 0, known).dns;
}

it('pods look for names in the cluster first, then where the host looks', () => {
  assert.deepEqual(dnsOf({}), cluster);
  assert.deepEqual(dnsOf({ dnsPolicy: 'ClusterFirst', hostNetwork: true }), undefined, 'as the host');
  assert.deepEqual(dnsOf({ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }), cluster);
  assert.deepEqual(dnsOf({ dnsPolicy: 'Default' }), undefined);
  assert.deepEqual(dnsOf({}, { ...names, dnsServers: [] }), undefined);
});

it('what a pod wants itself is added, or stands alone', () => {
  const dnsConfig = {
    nameservers: ['192.0.2.1'],
    searches: ['own.example'],
    options: [{ name: 'ndots', value: '1' }],
  };
  const own = { servers: ['192.0.2.1'], searches: ['own.example'], options: ['ndots:1'] };
  assert.deepEqual(dnsOf({ dnsPolicy: 'None', dnsConfig }), own);
  assert.deepEqual(dnsOf({ dnsConfig }), {
    servers: [...cluster.servers, ...own.servers],
    searches: [...cluster.searches, ...own.searches],
    options: ['ndots:1'],
  });
});

it('there are never more domains than resolvers take', () => {
  const hostSearches = Array.from({ length: 40 }, (_, index) => `d${index}.example`);
  assert.equal(dnsOf({}, { ...names, hostSearches })?.searches.length, 32);
});
