import { it } from 'node:test';
import { resources } from '@sheaf/client';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';
import { listenInVain } from './deaf-server.ts';

const name = 'pages';

/** What the last runs of an add-on's operation have come to, as its pods tell. */
async function lastEnds({ client }: AddonHost): Promise<readonly string[]> {
  const labelSelector = `helmcharts.helm.cattle.io/chart=${name}`;
  const { items } = await client.list(resources.pods, { namespace, labelSelector });
  return items.flatMap(({ status }) =>
    (status?.containerStatuses ?? []).map(({ lastState }) => lastState?.terminated?.message ?? ''),
  );
}

it(
  'an operation that waits where Sheaf was before it was killed is ended with that reason, and taken up again',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(async (host) => {
      await using deaf = await listenInVain();
      await host.make(name, { valuesContent: `hookImage: ${deaf.address}/none:1` });
      await host.change(name, { enabled: true });
      const waitsForHook = async (): Promise<boolean> => {
        const { status } = await host.addon(name);
        return JSON.stringify(status).includes(`its hook Job ${name}-pre-install does not begin`);
      };
      await host.until('Helm waits for a hook', waitsForHook);
      const before = new URL(host.url).host;
      await host.kill();
      await host.start({ isElsewhere: true });
      const after = new URL(host.url).host;
      const words = `the API server is at ${after} now, and this was begun when it was at ${before}`;
      await host.until('its end is told', async () => (await lastEnds(host)).includes(words));
      await host.until('Helm waits for the hook again', waitsForHook);
      await host.change(name, { valuesContent: 'text: mended' });
      await host.until('it serves', async () => (await host.page(name)) === 'mended 1.0.0\n');
      await host.reaches(name, 'AddonDeploySuccessful');
    }),
);
