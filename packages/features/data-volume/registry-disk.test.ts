import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import type { ContainerDiskObservation, ContainerDiskOrder } from '@sheaf/ports';
import { startTestServer } from '@sheaf/testkit';
import { fetchDisk } from './registry-disk.ts';

const signal = new AbortController().signal;
const order = {
  kind: 'registry',
  reference: 'registry.test/disks/fedora:43',
  secret: undefined,
  authorities: undefined,
  maxBytes: 1,
} as const;
const place = { namespace: 'default', uid: 'u' };

async function withServer(
  use: (given: {
    readonly client: Awaited<ReturnType<typeof startTestServer>>['client'];
    readonly orders: ContainerDiskOrder[];
    readonly containers: { fetch(order: ContainerDiskOrder): Promise<ContainerDiskObservation> };
    answer: ContainerDiskObservation;
  }) => Promise<void>,
): Promise<void> {
  const { client, close } = await startTestServer();
  const orders: ContainerDiskOrder[] = [];
  const given = {
    client,
    orders,
    answer: { progress: { state: 'working', percent: 0 } } as ContainerDiskObservation,
    containers: {
      fetch: (wanted: ContainerDiskOrder) => {
        orders.push(wanted);
        return Promise.resolve(given.answer);
      },
    },
  };
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await use(given).finally(close);
}

describe('disks of registries for data volumes', () => {
  it('are waited for, and then are images', () =>
    withServer(async (given) => {
      const look = () => fetchDisk(given, { order, ...place }, signal);
      assert.deepEqual(await look(), {
        waiting: {
          reason: 'ImportScheduled',
          text: 'Its container image is being fetched',
          nature: 'transient',
        },
      });
      given.answer = { progress: { state: 'failed', message: 'manifest unknown', nature: 'transient' } };
      assert.match(JSON.stringify(await look()), /manifest unknown/);
      given.answer = { progress: { state: 'done' }, image: { id: 'container-1', virtualBytes: 1 } };
      assert.deepEqual(await look(), { kind: 'image', imageId: 'container-1' });
      assert.deepEqual(given.orders[0], {
        reference: 'registry.test/disks/fedora:43',
        policy: 'Always',
        occasion: 'u',
        access: {},
      });
      await assert.rejects(
        fetchDisk({ client: given.client }, { order, ...place }, signal),
        /cannot be had on this host/,
      );
    }));

  it('come with the secret and the authorities of their data volume', () =>
    withServer(async ({ client, containers, orders }) => {
      const wanted = { ...order, secret: 'key', authorities: 'ca' };
      const look = () => fetchDisk({ client, containers }, { order: wanted, ...place }, signal);
      await assert.rejects(look(), /ConfigMap ca .*is not there/);
      await client.create(resources.configMaps, {
        metadata: { namespace: 'default', name: 'ca' },
        data: { 'ca.pem': 'PEM' },
      });
      await assert.rejects(look(), /Secret key has no accessKeyId/);
      const encoded = (text: string) => Buffer.from(text).toString('base64');
      await client.create(resources.secrets, {
        metadata: { namespace: 'default', name: 'key' },
        data: { accessKeyId: encoded('jane'), secretKey: encoded('secret') },
      });
      await look();
      const access = orders[0]?.access;
      assert.deepEqual(
        [access?.authorities, access?.credentials?.map((each) => each.reveal())],
        ['PEM', [`{"auths":{"registry.test":{"auth":"${encoded('jane:secret')}"}}}`]],
      );
    }));
});
