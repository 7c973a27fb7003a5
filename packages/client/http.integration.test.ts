import { HttpServer } from '@sheaf/apiserver';
import { Secret } from '@sheaf/base';
import { systemClock } from '@sheaf/drivers/system';
import { startTestServer, testCertificates } from '@sheaf/testkit';
import { clientContract } from './client.contract.ts';
import { Client, httpTransport } from './index.ts';

clientContract('HTTP', async () => {
  const { authority, admin, serving } = await testCertificates();
  const test = await startTestServer({ clock: systemClock });
  await test.client.create(
    { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
    { metadata: { name: 'default' } },
  );
  const http = new HttpServer({
    handler: test.server.handle,
    clock: systemClock,
    tls: { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem },
  });
  const { port } = await http.listen('127.0.0.1', 0);
  const transport = httpTransport({
    server: `https://127.0.0.1:${port}`,
    authority: authority.certificatePem,
    credentials: { certificate: admin.certificatePem, privateKey: new Secret(admin.privateKeyPem) },
  });
  return {
    client: new Client({ transport, userAgent: 'test' }),
    async close() {
      transport.close();
      await http.close(100);
      await test.close();
    },
  };
});
