import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import type { KeyPair } from '@sheaf/api/virtualization/index';
import { StatusError, silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import {
  SeededRandom,
  serveKinds,
  settle,
  startTestServer,
  TestClock,
  type TestServer,
} from '@sheaf/testkit';
import { rsaLine } from './public-key.ts';
import { publicKeys } from './public-keys.fixture.ts';
import { extend, type NewKey, register } from './register.ts';

const { keyPairs } = resources;
const ref = { namespace: 'default', name: 'mine' };
const keygenPath = '/v1/harvester/harvesterhci.io.keypairs?action=keygen';
const [rsa, ed25519] = publicKeys;
const generated = newKey();

function newKey(): NewKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  return { privateKeyPem: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(), public: { n, e } };
}

interface World extends TestServer {
  settled(claim: () => Promise<boolean>): Promise<void>;
}

async function withKeyPairs(run: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const server = await startTestServer({
    clock,
    extend: (api, client) => extend(api, { client, newKey: () => Promise.resolve(generated) }),
  });
  const { client } = server;
  const manager = new Manager({ client, clock, random: new SeededRandom(5), logger: silentLogger });
  register(manager);
  try {
    await serveKinds(client, clock, ['keypairs.harvesterhci.io']);
    await client.create(resources.namespaces, { metadata: { name: 'default' } });
    void manager.start();
    await run({ ...server, settled: (claim) => settle({ clock, until: claim }) });
  } finally {
    await manager.stop();
    await server.close();
  }
}

async function fingerPrintOf(client: Client): Promise<string | undefined> {
  return (await client.get(keyPairs, ref)).status?.fingerPrint;
}

async function keygen(
  client: Client,
  body: object,
): Promise<{ status: number; text: string; headers: unknown }> {
  const answer = await client.send({ method: 'POST', target: keygenPath, body: JSON.stringify(body) });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

describe('key pairs', () => {
  it('show the fingerprint of their key, also of the next one', () =>
    withKeyPairs(async ({ client, settled }) => {
      const made = { metadata: ref, spec: { publicKey: ed25519?.line ?? '' } };
      await client.create(keyPairs, made);
      await settled(async () => (await fingerPrintOf(client)) === ed25519?.fingerPrint);
      const body = { spec: { publicKey: rsa?.line ?? '' } };
      await client.patch(keyPairs, ref, { type: 'merge', body });
      await settled(async () => (await fingerPrintOf(client)) === rsa?.fingerPrint);
    }));

  it('are refused with a way out when their key is none', () =>
    withKeyPairs(async ({ client }) => {
      const made = client.create(keyPairs, { metadata: ref, spec: { publicKey: 'ssh-ed25519 AAAA me' } });
      await assert.rejects(made, (error) => {
        assert.ok(StatusError.is(error, 'Invalid'));
        assert.equal(error.code, 422);
        assert.match(error.message, /^spec\.publicKey: the key is damaged.*Paste the whole line/);
        assert.equal(error.details?.causes?.[0]?.field, 'spec.publicKey');
        return true;
      });
    }));

  it('are refused as their schema says when they have no form', () =>
    withKeyPairs(async ({ client }) => {
      const formless = { metadata: ref } as unknown as KeyPair;
      await assert.rejects(client.create(keyPairs, formless), (error) => StatusError.is(error, 'Invalid'));
    }));

  it('are made by keygen, which gives the private key to who asked and keeps it nowhere', () =>
    withKeyPairs(async ({ client, settled }) => {
      const { status, text, headers } = await keygen(client, ref);
      assert.equal(status, 200);
      const { 'content-type': type, 'content-disposition': disposition } = headers as Record<string, string>;
      assert.deepEqual([type, disposition], ['application/octet-stream', 'attachment; filename=mine.pem']);
      assert.match(text, /^-----BEGIN RSA PRIVATE KEY-----/);
      const { n = '', e = '' } = createPublicKey(createPrivateKey(text)).export({ format: 'jwk' });
      assert.equal((await client.get(keyPairs, ref)).spec.publicKey, rsaLine({ n, e }));
      await settled(async () => (await fingerPrintOf(client)) !== undefined);
      const kept = await Promise.all([client.list(keyPairs), client.list(resources.secrets)]);
      assert.doesNotMatch(JSON.stringify(kept), /PRIVATE/);
    }));

  it('keygen says what it needs, and asks whether the user may', () =>
    withKeyPairs(async ({ client, clientAs }) => {
      const bare = await keygen(client, { name: 'mine' });
      assert.deepEqual(
        [bare.status, bare.text],
        [422, 'InvalidBodyContent: name and namespace are required. Send {"name": "…", "namespace": "…"}.'],
      );
      const stranger = clientAs({ name: 'eve', groups: ['system:authenticated'] });
      const refused = await keygen(stranger, ref);
      assert.equal(refused.status, 403);
      assert.match(refused.text, /cannot create resource "keypairs"/);
      assert.equal(await client.find(keyPairs, ref), undefined);
      await keygen(client, ref);
      assert.equal((await keygen(client, ref)).status, 409);
    }));
});
