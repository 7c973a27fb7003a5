import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { failureNamed } from './failure-words.ts';
import { HelmError, type HelmSession } from './helm-session.ts';
import type { OperationOrder } from './operation-order.ts';
import { authorityFile, loginOf, writeArchiveLogin, writeRegistryLogins } from './repository-access.ts';

interface PullPlaces {
  readonly root: string;
  readonly work: string;
}

/** For one request to a repository, where the chart does not say how long. */
const usualPatienceMs = 60_000;

/** The chart as its repository gives it, as a file. @throws HelmError */
export async function pulledChart(
  helm: HelmSession,
  order: OperationOrder,
  places: PullPlaces,
): Promise<string> {
  checkPlace(order);
  const fetch = new Fetch(helm, order, places);
  const source = await fetch.source();
  const into = join(places.work, 'pulled');
  await mkdir(into, { recursive: true });
  const pinned = order.version === '' ? [] : ['--version', order.version];
  await fetch.call([
    'pull',
    source,
    ...pinned,
    ...(order.isPlainHttp ? ['--plain-http'] : []),
    '--destination',
    into,
  ]);
  const [file] = (await readdir(into)).filter((name) => name.endsWith('.tgz'));
  if (file === undefined) throw new HelmError(failureNamed('ChartNotFound'), 'the repository gave no chart');
  return join(into, file);
}

/** Files of the host are no charts. */
function checkPlace({ chart, repo }: OperationOrder): void {
  const isRemote = /^(https?|oci):\/\//.test(repo === '' ? chart : repo);
  const isFile = chart.includes('..') || chart.startsWith('/');
  if (isRemote && !isFile) return;
  const words = `${repo || chart} is no repository of charts: use http, https or oci`;
  throw new HelmError(failureNamed('ChartNotFound'), words);
}

/** The way to one repository. Credentials are never arguments: those are seen by everybody on the host. */
class Fetch {
  readonly #helm: HelmSession;
  readonly #order: OperationOrder;
  readonly #places: PullPlaces;

  constructor(helm: HelmSession, order: OperationOrder, places: PullPlaces) {
    this.#helm = helm;
    this.#order = order;
    this.#places = places;
  }

  /** What Helm is to pull, once it knows the repository and its credentials. */
  async source(): Promise<string> {
    const { chart, repo, passesCredentials } = this.#order;
    const login = await loginOf(this.#places);
    const place = repo || chart;
    if (place.startsWith('oci://')) {
      const [host = ''] = place.slice('oci://'.length).split('/');
      await writeRegistryLogins(this.#places, { host, login });
      return repo === '' ? chart : `${repo.replace(/\/+$/, '')}/${chart}`;
    }
    if (repo === '') {
      if (login) await writeArchiveLogin(this.#places, { address: chart, login, passesCredentials });
      return chart;
    }
    const credentials = login ? ['--username', login.username, '--password-stdin'] : [];
    const passed = passesCredentials ? ['--pass-credentials'] : [];
    await this.call(['repo', 'add', 'source', repo, ...credentials, ...passed], login?.password);
    return `source/${chart}`;
  }

  async call(args: readonly string[], input?: string): Promise<void> {
    const { repo, chart, timeout, isTlsUnchecked } = this.#order;
    const authority = await authorityFile(this.#places);
    const secured = [
      ...(authority === undefined ? [] : ['--ca-file', authority]),
      ...(isTlsUnchecked ? ['--insecure-skip-tls-verify'] : []),
    ];
    const patience = {
      milliseconds: timeout === undefined ? usualPatienceMs : millisecondsOf(timeout),
      asked: repo || chart,
    };
    try {
      await this.#helm.call([...args, ...secured], {
        phase: 'fetch',
        patience,
        ...(input === undefined ? {} : { input }),
      });
    } catch (error) {
      throw this.#isUnsecured(error) ? new HelmError(failureNamed('HttpsNotSpoken'), error.message) : error;
    }
  }

  /** Helm asks a registry that does not speak TLS again without it, and then without credentials. */
  #isUnsecured(error: unknown): error is HelmError {
    const { isPlainHttp, repo, chart } = this.#order;
    const isRegistry = (repo || chart).startsWith('oci://');
    return isRegistry && !isPlainHttp && error instanceof HelmError && /"http:\/\//.test(error.message);
  }
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Of a duration such as `1h30m`. */
export function millisecondsOf(duration: string): number {
  const parts = duration.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g);
  return [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0);
}
