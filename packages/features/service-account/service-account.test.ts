import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { planAuthority, planToken } from './plan.ts';
import { register } from './register.ts';

interface World {
  readonly client: Client;
  readonly eventually: (claim: () => Promise<boolean>) => Promise<void>;
}

async function withAccounts(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'red' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager, {
    authority: 'pem',
    issueToken: ({ name, uid, secretName }) => Promise.resolve(`token of ${name} ${uid} in ${secretName}`),
  });
  void manager.start();
  const eventually = (claim: () => Promise<boolean>): Promise<void> => settle({ clock, until: claim });
  try {
    await eventually(async () => (await client.find(resources.serviceAccounts, account)) !== undefined);
    await run({ client, eventually });
  } finally {
    await manager.stop();
    await close();
  }
}

const account = { namespace: 'red', name: 'default' };
const authority = { namespace: 'red', name: 'kube-root-ca.crt' };
const token = { namespace: 'red', name: 'token' };

function tokenSecret(accountName: string): KubeObject {
  return {
    metadata: { ...token, annotations: { 'kubernetes.io/service-account.name': accountName } },
    type: 'kubernetes.io/service-account-token',
  };
}

describe('service accounts', () => {
  it('make again what is removed or changed', () =>
    withAccounts(async ({ client, eventually }) => {
      const first = await client.get(resources.serviceAccounts, account);
      await client.delete(resources.serviceAccounts, account);
      await eventually(async () => {
        const second = await client.find(resources.serviceAccounts, account);
        return second !== undefined && second.metadata.uid !== first.metadata.uid;
      });
      const body = { data: { 'ca.crt': 'forged', more: 'x' } };
      await client.patch(resources.configMaps, authority, { type: 'merge', body });
      await eventually(
        async () =>
          JSON.stringify((await client.get(resources.configMaps, authority))['data']) ===
          JSON.stringify({ 'ca.crt': 'pem' }),
      );
    }));

  it('fill token secrets, which go with their account', () =>
    withAccounts(async ({ client, eventually }) => {
      const { uid } = (await client.get(resources.serviceAccounts, account)).metadata;
      await client.create(resources.secrets, tokenSecret('default'));
      await eventually(async () => (await client.get(resources.secrets, token))['data'] !== undefined);
      const secret = await client.get(resources.secrets, token);
      const data = secret['data'] as Record<string, string>;
      const decode = (field: string): string => Buffer.from(data[field] ?? '', 'base64').toString();
      assert.deepEqual(
        [decode('ca.crt'), decode('namespace'), decode('token')],
        ['pem', 'red', `token of default ${uid} in token`],
      );
      assert.equal(secret.metadata.annotations?.['kubernetes.io/service-account.uid'], uid);
      await client.delete(resources.serviceAccounts, account);
      await eventually(async () => (await client.find(resources.secrets, token)) === undefined);
    }));

  it('leave no secret for an account that is not there', () =>
    withAccounts(async ({ client, eventually }) => {
      await client.create(resources.secrets, tokenSecret('nobody'));
      await eventually(async () => (await client.find(resources.secrets, token)) === undefined);
    }));
});

describe('planToken', () => {
  const secret = tokenSecret('default');
  const named: KubeObject = { metadata: { name: 'default', namespace: 'red', uid: 'u1' } };
  const annotations = { ...secret.metadata.annotations, 'kubernetes.io/service-account.uid': 'u2' };

  it('fills what is empty', () => assert.deepEqual(planToken(secret, named, 'pem'), { action: 'fill' }));

  it('deletes what belongs to another account of that name', () => {
    const other = { ...secret, metadata: { ...secret.metadata, annotations } };
    assert.deepEqual(planToken(other, named, 'pem'), { action: 'delete' });
  });

  it('lets go what is being deleted', () => {
    const deleted = { ...secret, metadata: { ...secret.metadata, deletionTimestamp: 'now' } };
    assert.deepEqual(planToken(deleted, undefined, 'pem'), { action: 'none' });
  });
});

describe('planAuthority', () => {
  it('keeps annotations of others', () => {
    const metadata = { ...authority, annotations: { mine: 'x' } };
    const planned = planAuthority({ metadata, data: { 'ca.crt': 'pem' } }, 'pem');
    assert.equal(planned?.metadata.annotations?.['mine'], 'x');
    assert.equal(planned && planAuthority(planned, 'pem'), undefined);
  });
});
