import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findStoredChart } from './chart-store.ts';
import { failureNamed } from './failure-words.ts';
import { HelmError, type HelmSession } from './helm-session.ts';
import type { OperationOrder } from './operation-order.ts';

/** Where things are in the run of a container. */
export interface RunPlaces {
  /** What is mounted, below it. */
  readonly root: string;
  /** A directory of its own. */
  readonly work: string;
  /** Charts that this host has been given, for use without a network; empty: none. */
  readonly charts: string;
}

/** A file with the chart: what is mounted, what the host has, else what the repository gives. @throws HelmError */
export async function chartArchive(
  helm: HelmSession,
  order: OperationOrder,
  places: RunPlaces,
): Promise<string> {
  const here = (await mountedChart(order, places)) ?? findStoredChart(places.charts, order);
  return here ?? pulledChart(helm, order, places);
}

async function mountedChart(
  { name }: OperationOrder,
  { root, work }: RunPlaces,
): Promise<string | undefined> {
  const path = join(root, 'chart', `${name}.tgz.base64`);
  if (!existsSync(path)) return undefined;
  const archive = join(work, 'chart.tgz');
  await writeFile(archive, Buffer.from(await readFile(path, 'utf8'), 'base64'));
  return archive;
}

async function pulledChart(helm: HelmSession, order: OperationOrder, places: RunPlaces): Promise<string> {
  const { version, isTlsUnchecked, isPlainHttp } = order;
  checkPlace(order);
  const authority = await authorityFile(places);
  const secured = [
    ...(authority === undefined ? [] : ['--ca-file', authority]),
    ...(isTlsUnchecked ? ['--insecure-skip-tls-verify'] : []),
  ];
  const source = await chartSource(helm, { order, places, secured });
  const into = join(places.work, 'pulled');
  const pinned = [
    ...(version === '' ? [] : ['--version', version]),
    ...(isPlainHttp ? ['--plain-http'] : []),
  ];
  await helm.call(['pull', source, ...pinned, ...secured, '--destination', into], { phase: 'fetch' });
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

interface SourceOptions {
  readonly order: OperationOrder;
  readonly places: RunPlaces;
  readonly secured: readonly string[];
}

/** Credentials go over standard input: arguments are seen by everybody on the host. */
async function chartSource(helm: HelmSession, { order, places, secured }: SourceOptions): Promise<string> {
  const { chart, repo, passesCredentials } = order;
  const login = await loginOf(places);
  if (repo === '') return chart;
  if (repo.startsWith('oci://')) {
    const [host = ''] = repo.slice('oci://'.length).split('/');
    if (login)
      await helm.call(
        ['registry', 'login', host, '--username', login.username, '--password-stdin', ...secured],
        {
          phase: 'fetch',
          input: login.password,
        },
      );
    return `${repo.replace(/\/$/, '')}/${chart}`;
  }
  const credentials = login ? ['--username', login.username, '--password-stdin'] : [];
  const passed = passesCredentials ? ['--pass-credentials'] : [];
  await helm.call(['repo', 'add', 'source', repo, ...credentials, ...passed, ...secured], {
    phase: 'fetch',
    ...(login ? { input: login.password } : {}),
  });
  return `source/${chart}`;
}

async function loginOf({
  root,
}: RunPlaces): Promise<{ readonly username: string; readonly password: string } | undefined> {
  const path = join(root, 'auth');
  if (!existsSync(path)) return undefined;
  const read = (name: string): Promise<string> => readFile(join(path, name), 'utf8').catch(() => '');
  return { username: await read('username'), password: await read('password') };
}

/** All authorities in one file, as Helm wants them. */
async function authorityFile({ root, work }: RunPlaces): Promise<string | undefined> {
  const path = join(root, 'ca-files');
  if (!existsSync(path)) return undefined;
  const names = (await readdir(path)).filter((name) => !name.startsWith('.')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  const file = join(work, 'authorities.pem');
  await writeFile(file, texts.join('\n'));
  return file;
}
