import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resources } from '@sheaf/client';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const chartPath = fileURLToPath(new URL('./small-chart', import.meta.url));
const name = 'fields';
const target = 'made-for-it';

it(
  'a chart gets its values from all its fields in their order, and goes where they say',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(
      async (host) => {
        const { client } = host;
        await host.helm('package', chartPath, '--destination', host.directory);
        const archive = await readFile(join(host.directory, 'small-1.0.0.tgz'), 'base64');
        const secret = { a: 'secret: yes\nlevel: 3', b: 'other: 4' };
        await client.create(resources.secrets, {
          metadata: { namespace, name: 'values' },
          stringData: secret,
        });
        await client.create(resources.helmChartConfigs, {
          metadata: { namespace, name },
          spec: { valuesContent: 'level: 4\nconfig: content', values: { config: 'object' } },
        });
        await client.create(resources.helmCharts, {
          metadata: { namespace, name },
          spec: {
            chartContent: archive,
            targetNamespace: target,
            createNamespace: true,
            driver: 'configmap',
            timeout: '5m',
            valuesContent: 'level: 1\ncontent: true',
            values: { level: 2, object: { deep: true } },
            valuesSecrets: [{ name: 'values', keys: ['a', 'b'] }],
            set: { level: 5, text: '1,2', truth: 'true' },
          },
        });
        await host.until('it is deployed', async () => {
          const { status } = await client.get(resources.helmCharts, { namespace, name });
          return (
            status?.conditions?.some(({ type, status: is }) => type === 'Deployed' && is === 'True') === true
          );
        });
        const map = await client.get(resources.configMaps, { namespace: target, name });
        assert.deepEqual(JSON.parse((map['data'] as { readonly values: string }).values), {
          content: true,
          object: { deep: true },
          secret: true,
          other: 4,
          config: 'object',
          level: 5,
          text: '1,2',
          truth: true,
        });
        const kept = await client.list(resources.configMaps, {
          namespace: target,
          labelSelector: 'owner=helm',
        });
        assert.deepEqual(
          kept.items.map(({ metadata }) => metadata.name),
          [`sh.helm.release.v1.${name}.v1`],
        );

        await client.create(resources.configMaps, { metadata: { namespace: target, name: 'taking' } });
        await client.create(resources.helmCharts, {
          metadata: { namespace: target, name: 'taking' },
          spec: { chartContent: archive, takeOwnership: true, failurePolicy: 'abort', backOffLimit: 0 },
        });
        await host.until('both are deployed', async () => {
          const { items } = await client.list(resources.helmCharts);
          return items.every(({ status }) =>
            status?.conditions?.some(({ type, status: is }) => type === 'Deployed' && is === 'True'),
          );
        });
        await client.delete(resources.helmCharts, { namespace, name });
        await host.until('its release is gone', async () => {
          const { items } = await client.list(resources.configMaps, { namespace: target });
          return !items.some(({ metadata }) => metadata.name?.includes(name));
        });
        assert.ok(await client.find(resources.namespaces, { name: target }));
      },
      { isBare: true },
    ),
);
