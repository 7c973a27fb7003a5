import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const name = 'pages';

describe('add-ons with the real Helm and real containers', { skip: addonsAreMissing ?? false }, () => {
  it('are switched on, changed, rolled, switched off and on; Helm shows the same; a failure is told and mended', () =>
    AddonHost.run(async (host) => {
      await host.make(name, { valuesContent: 'text: hello' });
      await host.reaches(name, 'AddonDisabled');
      await host.change(name, { enabled: true });
      await host.reaches(name, 'AddonDeploySuccessful');
      assert.deepEqual(await host.releases(), ['pages-1.0.0 deployed']);
      assert.match(await host.helm('get', 'values', name, '--namespace', namespace), /text: hello/);
      await host.until('its pod answers', async () => (await host.page(name)) === 'hello 1.0.0\n');

      await host.change(name, { valuesContent: 'text: changed' });
      await host.until('the page changes', async () => (await host.page(name)) === 'changed 1.0.0\n');
      await host.reaches(name, 'AddonDeploySuccessful');
      await host.change(name, { version: '1.1.0' });
      await host.until(
        'the page is of the new version',
        async () => (await host.page(name)) === 'changed 1.1.0\n',
      );
      await host.reaches(name, 'AddonDeploySuccessful');
      assert.deepEqual(await host.releases(), ['pages-1.1.0 deployed']);

      await host.change(name, { valuesContent: 'fails: true' });
      await host.until('the failure is told', async () => {
        const { status } = await host.addon(name);
        return JSON.stringify(status).includes('HookFailed');
      });
      await host.change(name, { valuesContent: 'text: mended' });
      await host.until('the page is mended', async () => (await host.page(name)) === 'mended 1.1.0\n');
      await host.reaches(name, 'AddonDeploySuccessful');

      await host.change(name, { enabled: false });
      await host.reaches(name, 'AddonDisabled');
      assert.deepEqual(await host.releases(), []);
      await host.until('nothing is left', async () => (await host.remains()).length === 0);
      const bindings = await host.client.list(resources.clusterRoleBindings);
      assert.ok(!bindings.items.some(({ metadata }) => metadata.name?.startsWith('helm-')));

      for (let time = 0; time < 10; time++) await host.change(name, { enabled: time % 2 === 0 });
      await host.change(name, { enabled: true });
      await host.until('it is on again', async () => (await host.page(name)) === 'mended 1.1.0\n');
      await host.reaches(name, 'AddonDeploySuccessful');
    }));

  it('come to their end whoever is killed on the way', () =>
    AddonHost.run(async (host) => {
      await host.make(name);
      await host.change(name, { enabled: true });
      await host.until('Helm is at work', async () => {
        const { items } = await host.client.list(resources.pods, { namespace });
        return items.some(({ status }) => status?.phase === 'Running');
      });
      await host.kill();
      await host.start();
      await host.reaches(name, 'AddonDeploySuccessful');
      assert.deepEqual(await host.releases(), ['pages-1.0.0 deployed']);
      await host.change(name, { enabled: false });
      await host.kill();
      await host.start();
      await host.reaches(name, 'AddonDisabled');
      assert.deepEqual(await host.releases(), []);
      await host.until('nothing is left', async () => (await host.remains()).length === 0);
    }));
});
