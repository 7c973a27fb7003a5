import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { MemoryStore, type Store, StoreFault } from '@sheaf/store';
import { SeededRandom, startTestServer } from '@sheaf/testkit';
import { openEncryption } from './encryption.ts';
import { keyFileName, keyFileText, readKeyFile, withKeysOf, withNewKey } from './key-file.ts';

const random = new SeededRandom(3);
const prefix = '/registry/core/secrets/';

function memoryFiles(): {
  map: Map<string, string>;
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
} {
  const map = new Map<string, string>();
  return {
    map,
    read: (name) => Promise.resolve(map.get(name)),
    write: (name, text) => Promise.resolve(void map.set(name, text)),
  };
}

async function textsOf(store: Store): Promise<string[]> {
  return (await store.range({ prefix })).records.map(({ value }) => Buffer.from(value).toString('latin1'));
}

const isCorrupt = (words: RegExp) => (error: unknown) =>
  error instanceof StoreFault && error.kind === 'corrupt' && words.test(error.message) && error.wayOut !== '';

describe('openEncryption', () => {
  it('seals what the API server writes, and the server still reads it', async () => {
    const store = new MemoryStore();
    const files = memoryFiles();
    const { transformers, reseal } = await openEncryption({ store, files, random });
    const first = await startTestServer({ store, transformers });
    await first.client.create(resources.namespaces, { metadata: { name: 'n' } });
    const secret = { metadata: { name: 's', namespace: 'n' }, stringData: { password: 'correct horse' } };
    await first.client.create(resources.secrets, secret);
    const [text = ''] = await textsOf(store);
    assert.match(text, /^sheaf:gcm1:[0-9a-f]{8}:/);
    assert.doesNotMatch(text, /password|correct|"kind"/);
    first.server.close();
    const again = await openEncryption({ store, files, random });
    const second = await startTestServer({ store, transformers: again.transformers });
    const read = (await second.client.get(resources.secrets, { namespace: 'n', name: 's' })) as unknown as {
      data: Record<string, string>;
    };
    assert.equal(Buffer.from(read.data['password'] ?? '', 'base64').toString(), 'correct horse');
    assert.equal(await reseal(), 0);
    await second.close();
  });

  it('a record that was moved, changed or put there open is refused', async () => {
    const store = new MemoryStore();
    const { transformers } = await openEncryption({ store, files: memoryFiles(), random });
    const transformer = transformers.get('secrets');
    assert.ok(transformer);
    const sealed = Buffer.from(transformer.seal(Buffer.from('content'), `${prefix}n/a`));
    assert.equal(Buffer.from(transformer.open(sealed, `${prefix}n/a`)).toString(), 'content');
    assert.throws(() => transformer.open(sealed, `${prefix}n/b`), isCorrupt(/n\/b cannot be opened/));
    for (const index of [25, 40, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      assert.throws(() => transformer.open(changed, `${prefix}n/a`), isCorrupt(/cannot be opened/));
    }
    assert.throws(
      () => transformer.open(sealed.subarray(0, 30), `${prefix}n/a`),
      isCorrupt(/cannot be opened/),
    );
    assert.throws(() => transformer.open(Buffer.from('{}'), `${prefix}n/a`), isCorrupt(/lies open/));
  });

  it('takes over a store from before encryption; open records are accepted as long as history may hold some', async () => {
    const store = new MemoryStore();
    const files = memoryFiles();
    await store.commit({ key: `${prefix}n/a`, value: Buffer.from('{"old":1}'), expected: 0 });
    const { transformers, reseal } = await openEncryption({ store, files, random });
    const transformer = transformers.get('secrets');
    assert.equal(
      Buffer.from(transformer?.open(Buffer.from('{"old":1}'), `${prefix}n/a`) ?? '').toString(),
      '{"old":1}',
    );
    assert.equal(await reseal(), 1);
    assert.equal(await reseal(), 0);
    assert.match((await textsOf(store))[0] ?? '', /^sheaf:gcm1:/);
    const plain = Buffer.from('{}');
    const meanwhile = await openEncryption({ store, files, random });
    assert.equal(meanwhile.transformers.get('secrets')?.open(plain, 'k'), plain);
    await store.compact(store.revision);
    const later = await openEncryption({ store, files, random });
    assert.throws(() => later.transformers.get('secrets')?.open(plain, 'k'), isCorrupt(/lies open/));
  });

  it('a new first key takes over; the old one opens what history holds', async () => {
    const store = new MemoryStore();
    const files = memoryFiles();
    const before = await openEncryption({ store, files, random });
    const old = before.transformers.get('secrets')?.seal(Buffer.from('x'), `${prefix}n/a`);
    await store.commit({ key: `${prefix}n/a`, value: old, expected: 0 });
    const file = withNewKey(readKeyFile(files.map.get(keyFileName) ?? ''), random);
    await files.write(keyFileName, keyFileText(file));
    const { transformers, reseal } = await openEncryption({ store, files, random });
    assert.equal(await reseal(), 1);
    assert.ok((await textsOf(store))[0]?.startsWith(`sheaf:gcm1:${file.keys[0]?.id}`));
    assert.equal(
      Buffer.from(transformers.get('secrets')?.open(old ?? plainNothing, `${prefix}n/a`) ?? '').toString(),
      'x',
    );
    assert.deepEqual(withKeysOf(file, file), file);
  });

  it('lost or damaged keys are told with a way out, and nothing is overwritten', async () => {
    const store = new MemoryStore();
    const files = memoryFiles();
    const { transformers } = await openEncryption({ store, files, random });
    const value = transformers.get('secrets')?.seal(Buffer.from('x'), `${prefix}n/a`);
    await store.commit({ key: `${prefix}n/a`, value, expected: 0 });
    const lost = memoryFiles();
    await assert.rejects(openEncryption({ store, files: lost, random }), isCorrupt(/is sealed with the key/));
    assert.equal(lost.map.size, 0);
    for (const text of ['', '{}', '{"keys":[]}', '{"keys":[{"id":"x"}],"resources":{}}']) {
      lost.map.set(keyFileName, text);
      await assert.rejects(
        openEncryption({ store, files: lost, random }),
        isCorrupt(/encryption-key.json cannot be used/),
      );
      assert.equal(lost.map.get(keyFileName), text);
    }
  });
});

const plainNothing = new Uint8Array();
