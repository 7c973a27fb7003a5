import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import {
  Client,
  type ClientRequest,
  type ClientResponse,
  type ResourceRef,
  type Transport,
} from '@sheaf/client';
import { SeededRandom, startTestServer, TestClock, type TestServer } from '@sheaf/testkit';
import { Informer } from './informer.ts';

const configMaps: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
const namespaces: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

/** Breaks streams off after a few lines, and requests before they are sent. */
class UnreliableTransport implements Transport {
  readonly #inner: Transport;
  readonly #random: SeededRandom;
  isReliable = false;

  constructor(inner: Transport, random: SeededRandom) {
    this.#inner = inner;
    this.#random = random;
  }

  async send(request: ClientRequest): Promise<ClientResponse> {
    if (!this.isReliable && this.#random.integer(4) === 0) throw new Error('the network is down');
    const response = await this.#inner.send(request);
    return { ...response, text: () => response.text(), lines: () => this.#lines(response) };
  }

  async *#lines(response: ClientResponse): AsyncGenerator<string> {
    let left = 1 + this.#random.integer(5);
    for await (const line of response.lines()) {
      yield line;
      if (!this.isReliable && --left === 0) throw new Error('the stream broke off');
    }
  }

  close(): void {
    this.#inner.close();
  }
}

async function quiet(clock: TestClock): Promise<void> {
  for (let round = 0; round < 30; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(500);
  }
}

function contentOf(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata, data }) => `${metadata.name} ${metadata.resourceVersion} ${JSON.stringify(data)}`)
    .sort();
}

async function randomWrites(test: TestServer, random: SeededRandom, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const name = `c${random.integer(8)}`;
    const ref = { namespace: 'default', name };
    const found = await test.client.find(configMaps, ref);
    if (!found) await test.client.create(configMaps, { metadata: { ...ref }, data: { step: String(index) } });
    else if (random.integer(3) === 0) await test.client.delete(configMaps, ref);
    else await test.client.update(configMaps, { ...found, data: { step: `${index}` } });
  }
}

describe('informer', () => {
  it('ends up with what is there, and has told its handlers, whatever breaks', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const clock = new TestClock();
      const test = await startTestServer({ clock });
      await test.client.create(namespaces, { metadata: { name: 'default' } });
      const transport = new UnreliableTransport(test.transport, new SeededRandom(seed));
      const informer = new Informer(configMaps, {
        client: new Client({ transport, userAgent: 'test' }),
        clock,
        logger: silentLogger,
      });
      const told = new Map<string, KubeObject>();
      informer.onChange(({ object, old }) => {
        if (object) told.set(object.metadata.name ?? '', object);
        else told.delete(old?.metadata.name ?? '');
      });
      informer.start();
      const random = new SeededRandom(seed * 7);
      for (let round = 0; round < 6; round++) {
        await randomWrites(test, random, 10);
        if (round === 3) await test.store.compact(test.store.revision);
        await quiet(clock);
      }
      transport.isReliable = true;
      await quiet(clock);
      const { items } = await test.client.list(configMaps, { namespace: 'default' });
      const own = (objects: readonly KubeObject[]): string[] =>
        contentOf(objects.filter(({ metadata }) => metadata.namespace === 'default'));
      assert.deepEqual(own(informer.cache.list()), own(items), `seed ${seed}`);
      assert.deepEqual(own([...told.values()]), own(items), `handlers, seed ${seed}`);
      await informer.stop();
      await test.close();
    }
  });
});
