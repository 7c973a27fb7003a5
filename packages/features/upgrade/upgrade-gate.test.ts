import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StatusError, silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, serveKinds, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { extend, register } from './register.ts';

const namespace = 'harvester-system';

it('an upgrade is refused while an add-on is in the way; one that passes is told what becomes of it', async () => {
  const clock = new TestClock();
  const server = await startTestServer({ clock, extend: (api) => extend(api) });
  const { client } = server;
  const manager = new Manager({ client, clock, random: new SeededRandom(1), logger: silentLogger });
  try {
    await serveKinds(
      client,
      clock,
      ['addons', 'upgrades', 'versions'].map((plural) => `${plural}.harvesterhci.io`),
    );
    register(manager);
    void manager.start();
    await client.create(resources.namespaces, { metadata: { name: namespace } });
    await client.create(resources.versions, {
      metadata: { namespace, name: 'v2' },
      spec: { isoURL: 'http://v2' },
    });
    const addon = await client.create(resources.addons, {
      metadata: { namespace, name: 'web' },
      spec: { repo: 'http://r', chart: 'web', version: '1', enabled: true, valuesContent: '' },
    });
    const upgrade = { metadata: { namespace, name: 'up' }, spec: { version: 'v2' } };
    await assert.rejects(client.create(resources.upgrades, upgrade), (error) => {
      assert.ok(StatusError.is(error, 'BadRequest'));
      assert.match(error.message, /web is enabled but still in state .*kubectl patch addon web/);
      return true;
    });
    await client.updateStatus(resources.addons, { ...addon, status: { status: 'AddonDeploySuccessful' } });
    await client.create(resources.upgrades, upgrade);
    await settle({
      clock,
      until: async () => {
        const { status } = await client.get(resources.upgrades, { namespace, name: 'up' });
        return status?.conditions?.some(({ reason }) => reason === 'NotCarriedOut') === true;
      },
    });
  } finally {
    await manager.stop();
    await server.close();
  }
});
