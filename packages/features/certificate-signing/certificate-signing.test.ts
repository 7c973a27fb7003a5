import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import {
  allTasks,
  SeededRandom,
  settle,
  startTestServer,
  TestClock,
  type TestServer,
  testCertificates,
} from '@sheaf/testkit';
import { keptUntil, planRequest, type RequestContent, type SigningRequestObject } from './plan.ts';
import { signingRequests } from './reconcile.ts';
import { register, type SigningOrder } from './register.ts';

/** Made by openssl for `/O=team/CN=jane`; its key is gone. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHaMIGAAgEAMB4xDTALBgNVBAoMBHRlYW0xDTALBgNVBAMMBGphbmUwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQxnxu9uCKBFYoWqyg+U4jKUVB7tHuIjswS73UG
zhXLXf/SWxArjk76jinPNsaYULK6RDMM+FzE6x2v9yWvCjnOoAAwCgYIKoZIzj0E
AwIDSQAwRgIhAOrBCfx+NXBO5qAYbc9JerAKbEzOIS2vXiVLY2P6pB6hAiEA59jG
jeIRvEBUlVD63ndjGN4a7gkOgTrLULfLvRWVE2I=
-----END CERTIFICATE REQUEST-----
`;
const { authority } = await testCertificates();
/** Any certificate will do. */
const certificatePem = authority.certificatePem;
const hourMs = 3600_000;
const noNames = { dnsNames: [], addresses: [], emails: [], uris: [] };
const node: RequestContent = {
  subject: { commonName: 'system:node:a', organizations: ['system:nodes'] },
  names: noNames,
};

interface World {
  readonly api: TestServer;
  readonly clock: TestClock;
  readonly orders: SigningOrder[];
  readonly find: (name: string) => Promise<SigningRequestObject | undefined>;
  readonly until: (claim: () => Promise<boolean>) => Promise<void>;
}

async function withController(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const api = await startTestServer({ clock });
  const { client } = api;
  const orders: SigningOrder[] = [];
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager, {
    readContent: () => node,
    sign(order) {
      orders.push(order);
      const isRefused = order.usages.includes('server auth');
      return Promise.resolve(isRefused ? { refused: 'no servers here' } : { certificatePem });
    },
  });
  void manager.start();
  try {
    await run({
      api,
      clock,
      orders,
      find: (name) => client.find(signingRequests, { name }),
      until: (claim) => settle({ clock, until: claim }),
    });
  } finally {
    await manager.stop();
    await api.close();
  }
}

function request(name: string, spec: object = {}): SigningRequestObject {
  return {
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...spec,
    },
  };
}

async function approve(client: Client, name: string): Promise<void> {
  const found = await client.get(signingRequests, { name });
  const condition = { type: 'Approved', status: 'True', reason: 'ByHand', message: 'fine' } as const;
  const status = { conditions: [condition] };
  await client.update(signingRequests, { ...found, status }, { subresource: 'approval' });
}

const kubeletSpec = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['client auth', 'digital signature'],
};

describe('certificate signing', () => {
  it('signs what is approved, and nothing else', () =>
    withController(async ({ api: { client }, orders, find, until }) => {
      await client.create(signingRequests, request('a', { expirationSeconds: 900 }));
      await client.create(signingRequests, request('other', { signerName: 'example.com/own' }));
      await approve(client, 'other');
      await approve(client, 'a');
      await until(async () => (await find('a'))?.status?.certificate !== undefined);
      assert.equal((await find('a'))?.status?.certificate, Buffer.from(certificatePem).toString('base64'));
      assert.equal((await find('other'))?.status?.certificate, undefined);
      assert.deepEqual(orders, [
        {
          signerName: 'kubernetes.io/kube-apiserver-client',
          requestPem: pem,
          usages: ['client auth'],
          expirationSeconds: 900,
        },
      ]);
    }));

  it('says what the signer has against it, once', () =>
    withController(async ({ api: { client }, clock, orders, find, until }) => {
      await client.create(signingRequests, request('a', { usages: ['server auth'] }));
      await approve(client, 'a');
      await until(async () => (await find('a'))?.status?.conditions?.length === 2);
      const { lastUpdateTime, lastTransitionTime, ...failed } =
        (await find('a'))?.status?.conditions?.[1] ?? assert.fail();
      assert.deepEqual(failed, {
        type: 'Failed',
        status: 'True',
        reason: 'SignerValidationFailure',
        message: 'no servers here',
      });
      assert.ok(lastUpdateTime && lastTransitionTime);
      clock.advance(1000);
      assert.equal(orders.length, 1);
    }));

  it('approves kubelets as soon as they have the permission', () =>
    withController(async ({ api, find, until }) => {
      const kubelet = api.clientAs({
        name: 'system:bootstrap:x',
        groups: ['system:bootstrappers', 'system:authenticated'],
      });
      const { client } = api;
      const grant = async (name: string, resource: string): Promise<void> => {
        const rules = [{ apiGroups: ['certificates.k8s.io'], resources: [resource], verbs: ['create'] }];
        await client.create(resources.clusterRoles, { metadata: { name }, rules });
        await client.create(resources.clusterRoleBindings, {
          metadata: { name },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
          subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:bootstrappers' }],
        });
      };
      await grant('ask', 'certificatesigningrequests');
      await kubelet.create(signingRequests, request('a', kubeletSpec));
      assert.equal((await find('a'))?.status?.conditions, undefined);
      await grant('node', 'certificatesigningrequests/nodeclient');
      await until(async () => (await find('a'))?.status?.certificate !== undefined);
      const [condition] = (await find('a'))?.status?.conditions ?? [];
      assert.equal(condition?.reason, 'AutoApproved');
      assert.equal(
        condition?.message,
        'Auto approving kubelet client certificate after SubjectAccessReview.',
      );
    }));

  it('clears away signed ones after an hour and pending ones after a day', () =>
    withController(async ({ api: { client }, clock, find, until }) => {
      await client.create(signingRequests, request('pending'));
      await client.create(signingRequests, request('signed'));
      await approve(client, 'signed');
      await until(async () => (await find('signed'))?.status?.certificate !== undefined);
      clock.advance(hourMs - 10_000);
      await allTasks();
      assert.ok(await find('signed'));
      clock.advance(20_000);
      await until(async () => (await find('signed')) === undefined);
      assert.ok(await find('pending'));
      clock.advance(23 * hourMs);
      await until(async () => (await find('pending')) === undefined);
    }));
});

describe('planRequest', () => {
  const time = '2026-01-01T00:00:00Z';
  const now = Date.parse(time);
  const kubelet = {
    ...request('a', { ...kubeletSpec, username: 'system:node:a' }),
    metadata: { name: 'a', creationTimestamp: time },
  };
  const without = { action: 'keep' };
  const planWith = (content: RequestContent | undefined, object: SigningRequestObject = kubelet) =>
    planRequest(object, () => content, now);

  it('recognizes a kubelet by subject, usages and the absence of names', () => {
    assert.deepEqual(planWith(node), { action: 'review', subresources: ['selfnodeclient', 'nodeclient'] });
    assert.deepEqual(planWith({ ...node, names: { ...noNames, dnsNames: ['a'] } }), without);
    const subject = { commonName: 'system:node:a', organizations: ['system:nodes', 'system:masters'] };
    assert.deepEqual(planWith({ ...node, subject }), without);
    assert.deepEqual(planWith({ ...node, subject: { ...node.subject, commonName: 'jane' } }), without);
    assert.deepEqual(planWith(undefined), without);
    const usages = ['client auth', 'digital signature', 'server auth'];
    assert.deepEqual(planWith(node, { ...kubelet, spec: { ...kubelet.spec, usages } }), without);
  });

  it('never signs what is denied', () => {
    const conditions = ['Approved', 'Denied'].map((type) => ({ type, status: 'True' as const }));
    assert.deepEqual(planWith(node, { ...kubelet, status: { conditions } }), without);
  });

  it('keeps what is approved but not signed for a day', () => {
    const condition = { type: 'Approved', status: 'True', lastUpdateTime: time } as const;
    assert.equal(keptUntil({ ...kubelet, status: { conditions: [condition] } }), now + 24 * hourMs);
  });
});
