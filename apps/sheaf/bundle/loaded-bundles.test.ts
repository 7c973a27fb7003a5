import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resources } from '@sheaf/client';
import { startTestServer } from '@sheaf/testkit';
import { load } from './loaded-bundles.ts';
import { removedChartWords } from './removed-charts.ts';

it('what is installed of a chart that no bundle has any more is named', () => {
  const web = { repo: 'http://charts.example', chart: 'web', version: '1.0.0' };
  const other = { ...web, version: '2.0.0' };
  const installed = [
    { metadata: { namespace: 'default', name: 'web' }, spec: { ...web, valuesContent: '' } },
    { metadata: { namespace: 'default', name: 'other' }, spec: other },
    { metadata: { namespace: 'default', name: 'own' }, spec: { chartContent: 'AAAA' } },
  ];
  const before = { items: [{ charts: [web, other] }, { charts: [other] }] };
  const after = { items: [{ charts: [other] }] };
  assert.deepEqual(removedChartWords({ before, after, installed }), [
    'the chart web 1.0.0 of http://charts.example is installed as default/web, and its next change has to get it elsewhere',
  ]);
  assert.deepEqual(removedChartWords({ before, after: before, installed }), []);
});

it('a server that ends while a bundle is loaded is told, with what helps', async () => {
  const server = await startTestServer();
  try {
    await server.client.create(resources.nodes, { metadata: { name: 'here' } });
    const hangingUp = server.clientThrough((request) => {
      if (request.method !== 'POST') return server.transport.send(request);
      return Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    });
    const given = [import.meta.filename];
    await assert.rejects(load.run({ client: hangingUp, given } as never), {
      message: 'the server has ended before the bundle was loaded; load it again: it goes on',
    });
  } finally {
    await server.close();
  }
});
