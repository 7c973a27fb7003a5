import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** Where a server is and how the current context of a kubeconfig authenticates to it. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly ca?: Buffer;
  readonly certificate?: Buffer;
  readonly key?: Buffer;
  readonly token?: string;
}

interface NamedEntry {
  readonly name: string;
  readonly cluster?: Readonly<Record<string, string>>;
  readonly user?: Readonly<Record<string, string>>;
  readonly context?: Readonly<Record<string, string>>;
}

interface Kubeconfig {
  readonly 'current-context': string;
  readonly clusters: readonly NamedEntry[];
  readonly users: readonly NamedEntry[];
  readonly contexts: readonly NamedEntry[];
}

/** Reads the current context; client certificates (data or files) and bearer tokens are supported. */
export async function readKubeconfig(path: string): Promise<Target> {
  const config = parse(await readFile(path, 'utf8')) as Kubeconfig;
  const context = named(config.contexts, config['current-context']).context ?? {};
  const cluster = named(config.clusters, context['cluster']).cluster ?? {};
  const user = named(config.users, context['user']).user ?? {};
  const url = new URL(cluster['server'] ?? '');
  const material = async (
    section: Readonly<Record<string, string>>,
    key: string,
  ): Promise<Buffer | undefined> => {
    const data = section[`${key}-data`];
    if (data !== undefined) return Buffer.from(data, 'base64');
    const file = section[key];
    return file === undefined ? undefined : readFile(resolve(dirname(path), file));
  };
  const ca = await material(cluster, 'certificate-authority');
  const certificate = await material(user, 'client-certificate');
  const key = await material(user, 'client-key');
  const token = user['token'];
  return {
    host: url.hostname,
    port: Number(url.port === '' ? '443' : url.port),
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
  };
}

function named(entries: readonly NamedEntry[], name: string | undefined): NamedEntry {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`the kubeconfig has no entry "${name}"`);
  return found;
}
