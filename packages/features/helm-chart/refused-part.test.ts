import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StatusError, silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, serveKinds, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { refusedPart } from './refused-part.ts';
import { register } from './register.ts';

const place = { namespace: 'default', name: 'web' };

it('what is refused for good needs someone, a webhook passes, and a conflict is no refusal', () => {
  const forbidden = new StatusError({ reason: 'Forbidden', message: 'exceeded quota: few' });
  assert.deepEqual(refusedPart(forbidden), {
    reason: 'OperationRefused',
    text: 'what its operation works with is refused: exceeded quota: few',
    nature: 'fault',
    wayOut: 'take away what refuses it: a quota, a policy, a webhook',
  });
  const wayOutOf = (text: string): string | undefined =>
    refusedPart(new StatusError({ reason: 'Invalid', message: text }))?.wayOut;
  assert.match(
    wayOutOf('Secret "chart-values-web" is invalid: data: Too long: may not be more than 1048576 bytes') ??
      '',
    /^shorten its values: /,
  );
  assert.equal(wayOutOf('Job.batch "helm-install-web" is invalid: spec: wrong'), 'correct what it names');
  const message = 'failed calling webhook "a.example": connection refused';
  assert.equal(refusedPart(new StatusError({ reason: 'InternalError', message }))?.nature, 'transient');
  assert.equal(refusedPart(new StatusError({ reason: 'Conflict', message: 'it was changed' })), undefined);
  assert.equal(refusedPart(new Error('no answer')), undefined);
});

it('a chart says what of its operation the server refuses, and goes on when that is taken away', async () => {
  const clock = new TestClock();
  const server = await startTestServer({ clock });
  const { client } = server;
  await serveKinds(client, clock, ['helmcharts.helm.cattle.io', 'helmchartconfigs.helm.cattle.io']);
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(1), logger: silentLogger });
  register(manager);
  void manager.start();
  const deployed = async (): Promise<string> => {
    const { status } = await client.get(resources.helmCharts, place);
    const found = status?.conditions?.find(({ type }) => type === 'Deployed');
    return `${found?.reason}: ${found?.message}`;
  };
  try {
    // More than a ConfigMap takes.
    const spec = { chartContent: 'A'.repeat(1_200_000) };
    await client.create(resources.helmCharts, { metadata: place, spec });
    await settle({ clock, until: async () => (await deployed()).startsWith('OperationRefused: ') });
    assert.match(
      await deployed(),
      /"chart-content-web" is invalid: .*; needs someone: name the chart by repo and chart instead/,
    );
    assert.deepEqual((await client.list(resources.jobs)).items, []);
    const body = { spec: { chartContent: 'AAAA' } };
    await client.patch(resources.helmCharts, place, { type: 'merge', body });
    const hasJob = async (): Promise<boolean> => (await client.list(resources.jobs)).items.length === 1;
    await settle({ clock, until: hasJob });
    assert.doesNotMatch(await deployed(), /OperationRefused/);
  } finally {
    await manager.stop();
    await server.close();
  }
});
