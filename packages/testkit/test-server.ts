import { type ApiExtensions, ExtensionSet } from '@sheaf/api';
import { type ApiHandler, type ApiServerOptions, type OpenApiServer, openApiServer } from '@sheaf/apiserver';
import { SigningKeys } from '@sheaf/apiserver/authentication/index';
import { openServerCertificates, servingNames } from '@sheaf/apiserver/certificates/index';
import { type Clock, type Logger, type Random, silentLogger } from '@sheaf/base';
import { Client, type InProcessUser, inProcessTransport, type Transport } from '@sheaf/client';
import { MemoryStore, type Store } from '@sheaf/store';
import { SeededRandom } from './seeded-random.ts';
import { TestClock } from './test-clock.ts';

export interface TestServerOptions
  extends Partial<
    Pick<
      ApiServerOptions,
      | 'backends'
      | 'health'
      | 'inFlight'
      | 'metrics'
      | 'observer'
      | 'transformers'
      | 'furtherPaths'
      | 'upstream'
      | 'webhookClient'
    >
  > {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  /** A new memory store if absent. */
  readonly store?: Store;
  /** What features add to the API, as the composition root calls their registration; the client works once the server does. */
  readonly extend?: (api: ApiExtensions, client: Client) => void;
}

/** The real API server on the memory store, with an owned clock. */
export interface TestServer {
  readonly server: OpenApiServer;
  readonly store: Store;
  /** Acts as a member of system:masters. */
  readonly client: Client;
  /** The admin's way in, for tests that break it. */
  readonly transport: Transport;
  transportAs(user: InProcessUser): Transport;
  /** The admin's client over requests that a test may delay, repeat or refuse. */
  clientThrough(send: Transport['send']): Client;
  clientAs(user: InProcessUser, userAgent?: string): Client;
  /** The life of the server is over; what is durable stays. */
  end(): void;
  close(): Promise<void>;
}

export const testAdmin: InProcessUser = {
  name: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
};

const issuer = 'https://kubernetes.default.svc.cluster.local';

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = options.clock ?? new TestClock();
  const random = options.random ?? new SeededRandom(1);
  const store = options.store ?? new MemoryStore();
  const certificates = await testCertificates();
  const extensions = new ExtensionSet();
  options.extend?.(
    extensions,
    clientOf((request) => server.handle(request), testAdmin),
  );
  const server = await openApiServer({
    ...options,
    extensions,
    store,
    clock,
    random,
    logger: options.logger ?? silentLogger,
    clientAuthority: certificates.authority.certificatePem,
    frontProxyAuthority: certificates.frontProxyAuthority.certificatePem,
    signingKeys: signingKeysOf(certificates.serviceAccountKeyPem),
    issuers: [issuer],
    audiences: [issuer],
    serverAddress: () => '127.0.0.1:6443',
  });
  const clientAs = (user: InProcessUser, userAgent = 'test'): Client =>
    clientOf(server.handle, user, userAgent);
  return {
    server,
    store,
    client: clientAs(testAdmin),
    clientAs,
    clientThrough: (send) => new Client({ transport: { send, close() {} }, userAgent: 'test' }),
    transport: inProcessTransport(server.handle, testAdmin),
    transportAs: (user) => inProcessTransport(server.handle, user),
    end: () => server.close(),
    async close() {
      server.close();
      await store.close();
    },
  };
}

function clientOf(handle: ApiHandler, user: InProcessUser, userAgent = 'test'): Client {
  return new Client({ transport: inProcessTransport(handle, user), userAgent });
}

let signingKeys: SigningKeys | undefined;

/** Made once, as the certificates are. */
function signingKeysOf(pem: string): SigningKeys {
  signingKeys ??= new SigningKeys(pem);
  return signingKeys;
}

let made: ReturnType<typeof openServerCertificates> | undefined;

/** Keys are dear; all test servers of a process share one set. They have nothing to do with the tests' clocks. */
export function testCertificates(): ReturnType<typeof openServerCertificates> {
  const files = new Map<string, string>();
  made ??= openServerCertificates({
    files: {
      read: (name) => Promise.resolve(files.get(name)),
      write: (name, text) => Promise.resolve(void files.set(name, text)),
    },
    clock: new TestClock('2026-01-01T00:00:00Z'),
    random: new SeededRandom(7),
    servingNames: servingNames({ hosts: [] }),
  });
  return made;
}
