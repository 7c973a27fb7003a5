import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import { openServerCertificates, servingNames } from '@sheaf/apiserver/certificates/index';
import { resources } from '@sheaf/client';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';
import { registry } from './chart-registry.ts';
import { ChartServer, type ChartServerOptions, repository } from './chart-server.ts';

const chartPath = fileURLToPath(new URL('./small-chart', import.meta.url));
const login = { username: 'reader', password: 'a:b c"d' };
/** So that what fails does so at once; what is not answered is waited for as long as `timeout` says. */
const oneTry = { backOffLimit: 0 };

type Spec = NonNullable<HelmChart['spec']>;
/** What becomes of a chart: nothing, or the reason of its condition and what its message says. */
type Expected = 'deployed' | readonly [reason: string, words: RegExp];

/** Each field that says how a chart is got, where it helps and where it is missing. */
function cases(at: Servers): Readonly<Record<string, readonly [Spec, Expected]>> {
  const { authority } = at;
  const authSecret = { name: 'login' };
  const dockerRegistrySecret = { name: 'docker' };
  const small = { chart: 'small', version: '1.0.0' };
  const ociAddress = (host: string): string => `oci://${host}/charts`;
  const untrusted: Expected = ['CertificateUntrusted', /needs someone: name the authority with repoCA/];
  const refused: Expected = ['CredentialsRefused', /needs someone: correct the Secret/];
  return {
    'plain-login': [{ ...small, repo: at.guarded.url, authSecret }, 'deployed'],
    'plain-login-missing': [{ ...small, repo: at.guarded.url }, refused],
    'plain-login-wrong': [{ ...small, repo: at.guarded.url, authSecret: { name: 'wrong' } }, refused],
    'plain-login-empty': [
      { ...small, repo: at.guarded.url, authSecret: { name: 'docker' } },
      ['CredentialsRefused', /has no username and password/],
    ],
    'newest-version': [{ chart: 'small', repo: at.guarded.url, authSecret }, 'deployed'],
    'unknown-version': [
      { chart: 'small', version: '9.0.0', repo: at.guarded.url, authSecret },
      ['ChartNotFound', /needs someone: correct repo, chart and version/],
    ],
    'archive-address': [{ chart: `${at.guarded.url}/small-1.0.0.tgz`, authSecret }, 'deployed'],
    'archive-login-missing': [{ chart: `${at.guarded.url}/small-1.0.0.tgz` }, refused],
    'secured-authority': [{ ...small, repo: at.secured.url, repoCA: authority }, 'deployed'],
    'secured-authority-map': [
      { ...small, repo: at.secured.url, repoCAConfigMap: { name: 'authority' } },
      'deployed',
    ],
    'secured-unknown': [{ ...small, repo: at.secured.url }, untrusted],
    'secured-unchecked': [{ ...small, repo: at.secured.url, insecureSkipTLSVerify: true }, 'deployed'],
    'elsewhere-passed': [
      { ...small, repo: at.elsewhere.url, authSecret, authPassCredentials: true },
      'deployed',
    ],
    'elsewhere-not-passed': [{ ...small, repo: at.elsewhere.url, authSecret }, refused],
    'registry-plain': [
      { ...small, repo: ociAddress(at.plainRegistry.host), plainHTTP: true, dockerRegistrySecret },
      'deployed',
    ],
    'registry-not-plain': [
      { ...small, repo: ociAddress(at.plainRegistry.host), dockerRegistrySecret },
      ['HttpsNotSpoken', /needs someone: set plainHTTP/],
    ],
    'registry-login': [
      { ...small, repo: ociAddress(at.securedRegistry.host), repoCA: authority, authSecret },
      'deployed',
    ],
    'registry-login-missing': [
      { ...small, repo: ociAddress(at.securedRegistry.host), repoCA: authority },
      refused,
    ],
    'registry-unknown': [
      { ...small, repo: ociAddress(at.securedRegistry.host), dockerRegistrySecret },
      untrusted,
    ],
    'registry-address': [
      {
        chart: `${ociAddress(at.securedRegistry.host)}/small`,
        insecureSkipTLSVerify: true,
        dockerRegistrySecret,
      },
      'deployed',
    ],
    stalls: [
      { ...small, repo: at.stalling.url, timeout: '3s' },
      ['RepositoryUnreachable', /has not answered within 3 s; the field timeout allows more/],
    ],
    'registry-stalls': [
      { ...small, repo: ociAddress(at.stalling.host), plainHTTP: true, timeout: '3s' },
      ['RepositoryUnreachable', /has not answered within 3 s/],
    ],
  };
}

it(
  'charts come from repositories and registries of every sort; what is missing is named, with its field',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(
      async (host) => {
        await using servers = await Servers.start(host);
        await makeReferences(host, servers);
        const all = Object.entries(cases(servers));
        for (const [name, [spec]] of all)
          await host.client.create(resources.helmCharts, {
            metadata: { namespace, name },
            spec: { ...oneTry, ...spec },
          });
        const told: Record<string, unknown> = {};
        await host.until('each chart has come to an end', async () => {
          const { items } = await host.client.list(resources.helmCharts, { namespace });
          for (const { metadata, status } of items) told[metadata.name ?? ''] = outcomeOf(status?.conditions);
          return all.every(([name]) => told[name] !== undefined);
        });
        const unexpected = all.filter(([name, [, expected]]) => !isAsExpected(told[name], expected));
        assert.deepEqual(
          unexpected.map(([name]) => [name, told[name]]),
          [],
        );
      },
      { isBare: true },
    ),
);

/** `undefined` while it goes on. */
function outcomeOf(conditions: NonNullable<HelmChart['status']>['conditions'] = []): unknown {
  const of = (type: string) => conditions.find((condition) => condition.type === type);
  if (of('Deployed')?.status === 'True') return 'deployed';
  return of('Failed')?.status === 'True' ? [of('Deployed')?.reason, of('Deployed')?.message] : undefined;
}

function isAsExpected(told: unknown, expected: Expected): boolean {
  if (typeof expected === 'string' || !Array.isArray(told)) return told === expected;
  const [reason, words] = expected;
  return told[0] === reason && words.test(String(told[1]));
}

async function makeReferences({ client }: AddonHost, at: Servers): Promise<void> {
  const secret = (
    name: string,
    stringData: Readonly<Record<string, string>>,
    type: string,
  ): Promise<unknown> =>
    client.create(resources.secrets, { metadata: { namespace, name }, type, stringData });
  await secret('login', login, 'kubernetes.io/basic-auth');
  await secret('wrong', { ...login, password: 'guessed' }, 'kubernetes.io/basic-auth');
  const auth = Buffer.from(`${login.username}:${login.password}`).toString('base64');
  const auths = Object.fromEntries(
    [at.plainRegistry, at.securedRegistry].map(({ host }) => [host, { auth }]),
  );
  const config = JSON.stringify({ auths, credsStore: 'not-there' });
  await secret('docker', { '.dockerconfigjson': config }, 'kubernetes.io/dockerconfigjson');
  await client.create(resources.configMaps, {
    metadata: { namespace, name: 'authority' },
    data: { 'ca.pem': at.authority },
  });
}

/** Where charts are. */
class Servers implements AsyncDisposable {
  readonly authority: string;
  readonly #all: readonly ChartServer[];

  private constructor(authority: string, all: readonly ChartServer[]) {
    this.authority = authority;
    this.#all = all;
  }

  static async start(host: AddonHost): Promise<Servers> {
    await host.helm('package', chartPath, '--destination', host.directory);
    const file = join(host.directory, 'small-1.0.0.tgz');
    const archive = await readFile(file);
    const { authority, serving } = await certificates();
    const tls = { key: serving.privateKeyPem, cert: serving.certificatePem };
    const guarded = await ChartServer.start({ answer: repository(archive), login });
    const further: readonly ChartServerOptions[] = [
      { answer: repository(archive), tls },
      { answer: repository(archive, `${guarded.url}/small-1.0.0.tgz`), login },
      { answer: registry(), login },
      { answer: registry(), login, tls },
      { answer: () => undefined },
    ];
    const all = [guarded, ...(await Promise.all(further.map((options) => ChartServer.start(options))))];
    const servers = new Servers(authority.certificatePem, all);
    await servers.#push(host, file);
    return servers;
  }

  /** As people do, with Helm itself. */
  async #push(host: AddonHost, file: string): Promise<void> {
    const config = join(host.directory, 'push.json');
    for (const [{ host: at }, flag] of [
      [this.plainRegistry, '--plain-http'],
      [this.securedRegistry, '--insecure-skip-tls-verify'],
    ] as const) {
      const own = ['--registry-config', config];
      const insecure = flag === '--plain-http' ? flag : '--insecure';
      const { username, password } = login;
      await host.helm(
        'registry',
        'login',
        at,
        insecure,
        '--username',
        username,
        '--password',
        password,
        ...own,
      );
      await host.helm('push', file, `oci://${at}/charts`, flag, ...own);
    }
  }

  /** A repository behind a login. */
  get guarded(): ChartServer {
    return this.#at(0);
  }

  /** A repository behind a certificate of an authority of its own. */
  get secured(): ChartServer {
    return this.#at(1);
  }

  /** A repository whose archives are on the guarded one. */
  get elsewhere(): ChartServer {
    return this.#at(2);
  }

  get plainRegistry(): ChartServer {
    return this.#at(3);
  }

  get securedRegistry(): ChartServer {
    return this.#at(4);
  }

  /** It takes every request, and never answers. */
  get stalling(): ChartServer {
    return this.#at(5);
  }

  #at(index: number): ChartServer {
    const server = this.#all[index];
    if (!server) throw new Error('there is no such server');
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((server) => server.stop()));
  }
}

function certificates(): ReturnType<typeof openServerCertificates> {
  const files = new Map<string, string>();
  return openServerCertificates({
    files: {
      read: (name) => Promise.resolve(files.get(name)),
      write: (name, text) => Promise.resolve(void files.set(name, text)),
    },
    clock: systemClock,
    random: systemRandom,
    servingNames: servingNames({ hosts: [] }),
  });
}
