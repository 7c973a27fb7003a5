import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { type ResourceRef, resources } from '@sheaf/client';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const name = 'pages';
const place = { namespace };

/** What an installation is made of. Its right to do anything is taken away with the chart: here somebody has given it another. */
const binding = `helm-${namespace}-${name}`;
const parts: readonly (readonly [ResourceRef, string])[] = [
  [resources.serviceAccounts, `helm-${name}`],
  [resources.clusterRoleBindings, binding],
  [resources.secrets, `chart-values-${name}`],
  [resources.jobs, `helm-install-${name}`],
];

/** As somebody would send it who has not heard that it is not wanted any more. */
function anew(object: KubeObject): KubeObject {
  const { name: of, namespace: in_, labels } = object.metadata;
  const metadata = {
    name: of === binding ? 'late' : of,
    ...(in_ && { namespace: in_ }),
    ...(labels && { labels }),
  };
  // Without what the server has written into a Job to tell its pods from others.
  const text = JSON.stringify({ ...object, metadata, status: undefined }, (key, value: unknown) =>
    /^selector$|controller-uid|job-name/.test(key) ? undefined : value,
  );
  return JSON.parse(text) as KubeObject;
}

it(
  'an installation that comes when its add-on has been switched off does nothing, and says why',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(async (host) => {
      const { client } = host;
      await host.make(name);
      await host.change(name, { enabled: true });
      await host.reaches(name, 'AddonDeploySuccessful');
      const kept = await Promise.all(
        parts.map(
          async ([resource, of]) => [resource, await client.get(resource, { ...place, name: of })] as const,
        ),
      );
      await host.change(name, { enabled: false });
      await host.reaches(name, 'AddonDisabled');
      await host.until('nothing is left', async () => (await host.remains()).length === 0);
      for (const [resource, object] of kept) await client.create(resource, anew(object));
      await host.until('it says why', async () => {
        const { items } = await client.list(resources.pods, place);
        const ends = items.flatMap(({ status }) =>
          (status?.containerStatuses ?? []).map(({ lastState }) => lastState?.terminated?.message ?? ''),
        );
        return ends.includes(`the HelmChart ${name} is gone, or is being deleted`);
      });
      assert.deepEqual(await host.releases(), []);
      assert.equal((await host.addon(name)).status?.status, 'AddonDisabled');
      await client.delete(resources.clusterRoleBindings, { name: 'late' });
    }),
);
