import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resources } from '@sheaf/client';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';
import { listenInVain } from './deaf-server.ts';

const name = 'pages';
const hook = { namespace, name: `${name}-pre-install` };

/** Of the hook's Job; empty: there is none. */
async function hookUid({ client }: AddonHost): Promise<string> {
  return (await client.find(resources.jobs, hook))?.metadata.uid ?? '';
}

/** Ends what works on the add-on as by a crash: Helm is told nothing, and its Job begins anew. */
async function killHelm({ client }: AddonHost): Promise<void> {
  const labelSelector = `helmcharts.helm.cattle.io/chart=${name}`;
  const { items } = await client.list(resources.pods, { namespace, labelSelector });
  for (const { metadata } of items)
    await client.delete(resources.pods, { namespace, name: metadata.name ?? '' }, { gracePeriodSeconds: 0 });
}

it(
  'a hook whose Helm was killed or stopped while it waited is in nobody’s way, and goes with its add-on',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(async (host) => {
      await using deaf = await listenInVain();
      const waits = (): Promise<void> =>
        host.until('Helm waits for the hook', async () =>
          JSON.stringify((await host.addon(name)).status).includes('pages-pre-install does not begin'),
        );
      const isOff = async (): Promise<void> => {
        await host.change(name, { enabled: false });
        await host.reaches(name, 'AddonDisabled');
        await host.until('nothing is left', async () => (await host.remains()).length === 0);
      };
      await host.make(name);

      // Helm itself would never replace this one.
      const stuck = `hookImage: ${deaf.address}/none:1\nhookPolicy: hook-succeeded`;
      await host.change(name, { enabled: true, valuesContent: stuck });
      await waits();
      const first = await hookUid(host);
      await killHelm(host);
      await host.until('there is another hook', async () => !['', first].includes(await hookUid(host)));
      await waits();
      await host.change(name, { valuesContent: 'hookPolicy: hook-succeeded' });
      await host.reaches(name, 'AddonDeploySuccessful');
      assert.equal(await hookUid(host), '');

      await host.change(name, { valuesContent: `${stuck}\ntext: second` });
      await waits();
      await isOff();

      await host.change(name, {
        enabled: true,
        valuesContent: `hookImage: ${deaf.address}/none:1\nhookPolicy: before-hook-creation`,
      });
      await waits();
      await isOff();
      assert.deepEqual(await host.releases(), []);
    }),
);
