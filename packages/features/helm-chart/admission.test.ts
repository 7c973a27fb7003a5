import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { serveKinds, startTestServer, TestClock } from '@sheaf/testkit';
import { chartNameRule, chartReleaseRule, endingNamespaceRule } from './admission.ts';

it('whoever deletes a namespace is told which charts are not uninstalled with it, and how to see what stays', async () => {
  const clock = new TestClock();
  const server = await startTestServer({ clock, extend: (api) => api.addAdmission(endingNamespaceRule) });
  const { client } = server;
  try {
    await serveKinds(client, clock, ['helmcharts.helm.cattle.io']);
    for (const name of ['empty', 'full']) await client.create(resources.namespaces, { metadata: { name } });
    for (const name of ['web', 'log'])
      await client.create(resources.helmCharts, {
        metadata: { namespace: 'full', name },
        spec: { chart: name },
      });
    const deletion = async (name: string): Promise<readonly [code: number, warning: string | undefined]> => {
      const answer = await client.send({ method: 'DELETE', target: `/api/v1/namespaces/${name}` });
      return [answer.status, answer.headers['warning']];
    };
    const [code, warning = ''] = await deletion('full');
    assert.equal(code, 200);
    assert.match(warning, /the charts log, web are not uninstalled with the namespace/);
    assert.match(warning, /kubectl get clusterroles,\S+ -l app\.kubernetes\.io\/managed-by=Helm/);
    assert.deepEqual(await deletion('empty'), [200, undefined]);
  } finally {
    await server.close();
  }
});

it('a chart whose Job could not bear its name is refused; one of others is theirs', async () => {
  const clock = new TestClock();
  const server = await startTestServer({ clock, extend: (api) => api.addAdmission(chartNameRule) });
  const { client } = server;
  try {
    await serveKinds(client, clock, ['helmcharts.helm.cattle.io']);
    await client.create(resources.namespaces, { metadata: { name: 'default' } });
    const make = (name: string, annotations = {}): Promise<unknown> =>
      client.create(resources.helmCharts, {
        metadata: { namespace: 'default', name, annotations },
        spec: { chart: 'web' },
      });
    await make('x'.repeat(50));
    await assert.rejects(make('x'.repeat(51)), (error) => {
      assert.ok(StatusError.is(error, 'Invalid'));
      assert.match(error.message, /at most 50 characters, .*; this one has 51. Give it a shorter name/);
      return true;
    });
    await make('x'.repeat(51), { 'helmcharts.helm.cattle.io/unmanaged': 'true' });
  } finally {
    await server.close();
  }
});

it('a second chart of one release is refused, when it is made and when it is changed', async () => {
  const clock = new TestClock();
  const server = await startTestServer({ clock, extend: (api) => api.addAdmission(chartReleaseRule) });
  const { client } = server;
  try {
    await serveKinds(client, clock, ['helmcharts.helm.cattle.io']);
    for (const name of ['a', 'b']) await client.create(resources.namespaces, { metadata: { name } });
    const make = (namespace: string, targetNamespace: string): Promise<unknown> =>
      client.create(resources.helmCharts, {
        metadata: { namespace, name: 'web' },
        spec: { chart: 'web', targetNamespace },
      });
    const change = (spec: Readonly<Record<string, string>>): Promise<unknown> =>
      client.patch(resources.helmCharts, { namespace: 'b', name: 'web' }, { type: 'merge', body: { spec } });
    const isRefused = (error: unknown): boolean =>
      StatusError.is(error, 'Invalid') &&
      /the release web in the namespace apps is that of the HelmChart a\/web already. Give /.test(
        error.message,
      );
    await make('a', 'apps');
    await assert.rejects(make('b', 'apps'), isRefused);
    await make('b', 'other');
    await assert.rejects(change({ targetNamespace: 'apps' }), isRefused);
    await change({ version: '2.0.0' });
  } finally {
    await server.close();
  }
});
