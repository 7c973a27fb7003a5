import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import { silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { ChartNeed, MissingContent } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, serveKinds, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { missingContent } from './missing-content.ts';
import { register } from './register.ts';

const place = { namespace: 'default', name: 'web' };

it('what is missing is named, with whom was asked in vain and the command that brings it', () => {
  const addon = { apiVersion: 'harvesterhci.io/v1beta1', kind: 'Addon', name: 'web', uid: 'a' };
  const chart: HelmChart = { metadata: { ...place, ownerReferences: [addon] } };
  const images = {
    chart: undefined,
    images: ['a/b:1', 'c/d:2'],
    unreachable: ['https://a cannot be reached: x'],
  };
  const { text, wayOut, nature } = missingContent(chart, images);
  assert.deepEqual(
    [text, nature],
    ['the images a/b:1, c/d:2 are not on this host; https://a cannot be reached: x', 'fault'],
  );
  assert.match(
    wayOut ?? '',
    /sheaf bundle load FILE, made .* sheaf bundle create FILE --addon default\/web;/,
  );
  const own = missingContent({ metadata: place }, { ...images, images: ['a/b:1'] });
  assert.match(own.text, /^the image a\/b:1 is not on this host/);
  assert.match(own.wayOut ?? '', /--helm-chart default\/web;/);
});

it('a chart whose content is missing waits with the cause, before anything is made, and goes on when a bundle has come', async () => {
  const clock = new TestClock();
  const server = await startTestServer({ clock });
  const { client } = server;
  await serveKinds(client, clock, ['helmcharts.helm.cattle.io', 'helmchartconfigs.helm.cattle.io']);
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const listeners: (() => void)[] = [];
  const asked: ChartNeed[] = [];
  let missing: MissingContent | undefined = {
    chart: 'web 1.0.0 of http://charts.example',
    images: [],
    unreachable: ['http://charts.example cannot be reached: no route'],
  };
  const manager = new Manager({ client, clock, random: new SeededRandom(1), logger: silentLogger });
  register(manager, {
    chartContents: {
      missing(need) {
        asked.push(need);
        return Promise.resolve(missing);
      },
    },
    bundles: {
      onChange(listener) {
        listeners.push(listener);
        return { dispose: () => undefined };
      },
    },
  });
  void manager.start();
  const deployed = async (): Promise<string> => {
    const { status } = await client.get(resources.helmCharts, place);
    const found = status?.conditions?.find(({ type }) => type === 'Deployed');
    return `${found?.reason ?? ''}: ${found?.message ?? ''}`;
  };
  try {
    const spec = { chart: 'web', repo: 'http://charts.example', version: '1.0.0', set: { a: 'b' } };
    await client.create(resources.helmCharts, { metadata: place, spec: { ...spec, valuesContent: 'c: d' } });
    await settle({ clock, until: async () => (await deployed()).startsWith('ContentMissing: ') });
    assert.match(
      await deployed(),
      /the chart web 1.0.0 of http:\/\/charts.example, which names its images, is not/,
    );
    assert.deepEqual((await client.list(resources.jobs)).items, []);
    const { repo, chart, version } = spec;
    assert.deepEqual(asked[0], {
      ...{ name: 'web', targetNamespace: 'default', repo, chart, version, content: '' },
      values: ['c: d'],
      set: ['--set-string', 'a=b'],
    });
    missing = undefined;
    for (const listener of listeners) listener();
    await settle({
      clock,
      until: async () => (await client.list(resources.jobs)).items.length === 1,
      limitMs: 1000,
    });
  } finally {
    await manager.stop();
    await server.close();
  }
});
