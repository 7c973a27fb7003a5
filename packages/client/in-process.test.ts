import { startTestServer } from '@sheaf/testkit';
import { clientContract } from './client.contract.ts';

clientContract('the in-process transport', async () => {
  const test = await startTestServer();
  await test.client.create(
    { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
    { metadata: { name: 'default' } },
  );
  return { client: test.client, close: () => test.close() };
});
