import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Addon } from '@sheaf/api/virtualization/index';
import { StatusError, silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, serveKinds, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { registerAddons } from './register.ts';

const place = { namespace: 'default', name: 'web' };

function told({ status }: Addon, type: string): string | undefined {
  const found = status?.conditions?.find((each) => each.type === type);
  return found?.status === 'True' ? found.message : undefined;
}

it('an add-on whose chart is refused says so with the way out, writes that once, and goes on by itself', async () => {
  const clock = new TestClock();
  const server = await startTestServer({ clock });
  const { client } = server;
  await serveKinds(client, clock, ['addons.harvesterhci.io', 'helmcharts.helm.cattle.io']);
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  let isFull = true;
  let refusals = 0;
  const limited = server.clientThrough((request) => {
    if (!isFull || request.method !== 'POST' || !request.target.includes('helmcharts'))
      return server.transport.send(request);
    refusals += 1;
    return Promise.reject(new StatusError({ reason: 'Forbidden', message: 'exceeded quota: few' }));
  });
  const manager = new Manager({ client: limited, clock, random: new SeededRandom(1), logger: silentLogger });
  registerAddons(manager);
  void manager.start();
  const addon = (): Promise<Addon> => client.get(resources.addons, place);
  const refused = (count: number): Promise<void> => settle({ clock, until: () => refusals >= count });
  try {
    await client.create(resources.addons, {
      metadata: place,
      spec: {
        repo: 'http://charts.example',
        chart: 'web',
        version: '1.0.0',
        enabled: true,
        valuesContent: '',
      },
    });
    await settle({ clock, until: async () => told(await addon(), 'OperationFailed') !== undefined });
    assert.equal(
      told(await addon(), 'OperationFailed'),
      'ChartRefused: its HelmChart is refused: exceeded quota: few; needs someone: take away what refuses it: a quota, a policy, a webhook; or correct the add-on',
    );
    assert.match(told(await addon(), 'InProgress') ?? '', /^its installation begins; /);
    const { resourceVersion } = (await addon()).metadata;
    await refused(refusals + 3);
    assert.equal((await addon()).metadata.resourceVersion, resourceVersion);
    isFull = false;
    const isMade = async (): Promise<boolean> =>
      (await client.find(resources.helmCharts, place)) !== undefined;
    await settle({ clock, until: isMade });
    await settle({ clock, until: async () => told(await addon(), 'OperationFailed') === undefined });
  } finally {
    await manager.stop();
    await server.close();
  }
});
