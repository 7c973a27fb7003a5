import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resources } from '@sheaf/client';
import { serveKinds, startTestServer, TestClock } from '@sheaf/testkit';
import { endingNamespaceRule } from './admission.ts';

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
