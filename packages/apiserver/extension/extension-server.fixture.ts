import { HttpServer } from '@sheaf/apiserver';
import { type Clock, Secret } from '@sheaf/base';
import { Client, type HttpTransportOptions, httpTransport } from '@sheaf/client';
import { systemClock } from '@sheaf/drivers/system';
import { startTestServer, type TestServer, type TestServerOptions, testCertificates } from '@sheaf/testkit';
import { registerSample, type SampleFeature } from './sample-feature.fixture.ts';

/** A server with the sample feature, behind real HTTP. */
export interface ExtensionServer {
  readonly test: TestServer;
  readonly feature: SampleFeature;
  readonly url: string;
  readonly admin: Required<Pick<HttpTransportOptions, 'server' | 'authority' | 'credentials'>>;
  /** The administrator's, over HTTP. */
  readonly client: Client;
  /** An unprivileged user's, by a token. */
  clientOf(token: string): Client;
  /** A token of a new service account in `default`. */
  newToken(name: string): Promise<string>;
  close(): Promise<void>;
}

export async function startExtensionServer({
  httpClock = systemClock,
  ...options
}: TestServerOptions & { readonly httpClock?: Clock } = {}): Promise<ExtensionServer> {
  let feature: SampleFeature | undefined;
  const test = await startTestServer({
    clock: systemClock,
    ...options,
    extend: (api) => {
      feature = registerSample(api);
    },
  });
  const { authority, admin: administrator, serving } = await testCertificates();
  const http = new HttpServer({
    handler: test.server.handle,
    clock: httpClock,
    tls: { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem },
  });
  const { port } = await http.listen('127.0.0.1', 0);
  const url = `https://127.0.0.1:${port}`;
  const admin = {
    server: url,
    authority: authority.certificatePem,
    credentials: {
      certificate: administrator.certificatePem,
      privateKey: new Secret(administrator.privateKeyPem),
    },
  };
  const transports = [httpTransport(admin)];
  const clientOf = (token: string): Client => {
    const transport = httpTransport({ ...admin, credentials: { token: new Secret(token) } });
    transports.push(transport);
    return new Client({ transport, userAgent: 'test' });
  };
  const [transport] = transports;
  const client = new Client({ transport: transport!, userAgent: 'test' });
  await client.send(post('/api/v1/namespaces', { metadata: { name: 'default' } }));
  return {
    test,
    feature: feature!,
    url,
    admin,
    client,
    clientOf,
    async newToken(name) {
      const accounts = '/api/v1/namespaces/default/serviceaccounts';
      await client.send(post(accounts, { metadata: { name } }));
      const answer = await client.send(post(`${accounts}/${name}/token`, { spec: {} }));
      return (JSON.parse(await answer.text()) as { status: { token: string } }).status.token;
    },
    async close() {
      for (const each of transports) each.close();
      await http.close(100);
      await test.close();
    },
  };
}

export function post(
  target: string,
  body: object,
): { method: string; target: string; body: string; headers: Record<string, string> } {
  return {
    method: 'POST',
    target,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  };
}
