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
  const asHost = {
    ...own,
    servers: ['10.43.0.10', '192.0.2.1'],
    searches: [...(names.hostSearches ?? []), 'own.example'],
  };
  assert.deepEqual(dnsOf({ dnsPolicy: 'Default', dnsConfig }), asHost);
  assert.deepEqual(dnsOf({ hostNetwork: true, dnsConfig }), asHost);
  assert.deepEqual(dnsOf({ dnsConfig }), {
    servers: [...cluster.servers, ...own.servers],
    searches: [...cluster.searches, ...own.searches],
    options: ['ndots:1'],
  });
});

function namesOf(spec: Partial<Pod['spec']>): Partial<ReturnType<typeof planSandboxSpec>> {
  const pod: Pod = {
    metadata: { namespace: 'shop', name: 'web-0', uid: 'u' },
    spec: { containers: [], ...spec },
  };
  const { hostname, domain } = planSandboxSpec(pod, 0, names);
  return { hostname, ...(domain !== undefined && { domain }) };
}

it('a pod in the domain of a Service has a full name, or that alone', () => {
  const subdomain = 'web';
  assert.deepEqual(namesOf({}), { hostname: 'web-0' });
  const domain = 'web.shop.svc.cluster.local';
  assert.deepEqual(namesOf({ subdomain }), { hostname: 'web-0', domain });
  assert.deepEqual(namesOf({ subdomain, hostname: 'own' }), { hostname: 'own', domain });
  assert.deepEqual(namesOf({ subdomain, hostNetwork: true }), { hostname: 'web-0' });
  assert.deepEqual(namesOf({ subdomain, setHostnameAsFQDN: true }), { hostname: `web-0.${domain}` });
  assert.deepEqual(namesOf({ subdomain, hostnameOverride: 'a.b' }), { hostname: 'a.b' });
  const tooLong = { subdomain: 's'.repeat(40), setHostnameAsFQDN: true };
  assert.throws(() => namesOf(tooLong), /is too long \(64 characters is the max, 69 characters.*shorten/);
});

it('a pod that asks for users of its own is refused, not run with less', () => {
  assert.throws(() => namesOf({ hostUsers: false }), /not supported here: leave out hostUsers/);
  assert.deepEqual(namesOf({ hostUsers: true }), { hostname: 'web-0' });
});

it('there are never more domains than resolvers take', () => {
  const hostSearches = Array.from({ length: 40 }, (_, index) => `d${index}.example`);
  assert.equal(dnsOf({}, { ...names, hostSearches })?.searches.length, 32);
});
