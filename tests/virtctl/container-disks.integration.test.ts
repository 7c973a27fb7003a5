import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { TestRegistry } from '../../packages/drivers/local-disk/container/registry.fixture.ts';
import { type MachineServer, startMachineServer } from './machine-server.ts';

const namespace = 'default';
const hasSkopeo = spawnSync('skopeo', ['--version']).status === 0;
const why = hasSkopeo ? false : 'skopeo is not installed (package skopeo)';

describe('machines with disks in container images', { skip: why }, () => {
  let started: MachineServer | { readonly missing: string };
  let registry: TestRegistry;
  before(async () => {
    registry = await TestRegistry.start();
    started = await startMachineServer();
  });
  after(async () => {
    if (!('missing' in started)) await started.close();
    await registry.stop();
  });

  const check = (name: string, run: (server: MachineServer) => Promise<void>): void => {
    it(name, async (context: TestContext) => {
      if ('missing' in started) context.skip(started.missing);
      else await run(started);
    });
  };
  const create = ({ client }: MachineServer, name: string, image: string): Promise<KubeObject> =>
    client.create(resources.virtualMachines, {
      metadata: { namespace, name },
      spec: {
        runStrategy: 'RerunOnFailure',
        template: {
          spec: {
            domain: {
              memory: { guest: '64Mi' },
              devices: {
                disks: [
                  { name: 'root', disk: { bus: 'virtio' } },
                  { name: 'drivers', cdrom: {} },
                ],
              },
            },
            volumes: [
              { name: 'root', containerDisk: { image } },
              { name: 'drivers', containerDisk: { image, path: '/drivers.iso' } },
            ],
          },
        },
      },
    });
  const { signal } = new AbortController();

  check('say why their image cannot be had', async (server) => {
    await create(server, 'c0', `${registry.host}/disks/none:1`);
    await server.reaches('c0', 'ErrImagePull');
    await server.client.delete(resources.virtualMachines, { namespace, name: 'c0' });
  });

  check('run on a copy of their own, and leave nothing behind', async (server) => {
    const { client, disk } = server;
    const image = registry.pushFiles('disks/small:1', {
      '/disk/small.img': Buffer.alloc(1024 ** 2, 7),
      '/drivers.iso': Buffer.alloc(64 * 1024, 8),
    });
    const config = await client.get(resources.cdiConfigs, { name: 'config' });
    await client.update(resources.cdiConfigs, {
      ...config,
      ...{ spec: { insecureRegistries: [registry.host] } },
    });
    await create(server, 'c1', image);
    await server.reaches('c1', 'Running');
    assert.equal((await disk.volumes.list(signal)).length, 2);
    await client.delete(resources.virtualMachines, { namespace, name: 'c1' });
    await server.until(async () => {
      const volumes = await disk.volumes.list(signal);
      return volumes.length + (await disk.images.list(signal)).length === 0;
    }, 'nothing of it is left');
  });

  check('fill data volumes', async ({ client, until }) => {
    const image = registry.pushFiles('disks/filled:1', { '/disk/a.img': Buffer.alloc(1024 ** 2, 9) });
    const config = await client.get(resources.cdiConfigs, { name: 'config' });
    await client.update(resources.cdiConfigs, {
      ...config,
      ...{ spec: { insecureRegistries: [registry.host] } },
    });
    await client.create(resources.dataVolumes, {
      metadata: { namespace, name: 'filled' },
      spec: { source: { registry: { url: `docker://${image}` } }, storage: {} },
    });
    await until(async () => {
      const { status } = await client.get(resources.dataVolumes, { namespace, name: 'filled' });
      return status?.phase === 'Succeeded';
    }, 'it is filled');
    const claim = await client.get(resources.persistentVolumeClaims, { namespace, name: 'filled' });
    assert.deepEqual(claim.status?.capacity, { storage: '1Mi' });
  });
});
