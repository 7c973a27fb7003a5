import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failureNamed } from './failure-words.ts';
import { HelmError } from './helm-session.ts';

interface Places {
  readonly root: string;
  readonly work: string;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** Of `authSecret`. @throws HelmError if it has not both parts */
export async function loginOf({ root }: Places): Promise<Login | undefined> {
  const path = join(root, 'auth');
  if (!existsSync(path)) return undefined;
  const read = (name: string): Promise<string> => readFile(join(path, name), 'utf8').catch(() => '');
  const login = { username: await read('username'), password: await read('password') };
  if (login.username !== '' && login.password !== '') return login;
  const words =
    'the Secret of authSecret has no username and password: it is to be of type kubernetes.io/basic-auth';
  throw new HelmError(failureNamed('CredentialsRefused'), words);
}

/** All authorities in one file, as Helm wants them. */
export async function authorityFile({ root, work }: Places): Promise<string | undefined> {
  const path = join(root, 'ca-files');
  if (!existsSync(path)) return undefined;
  const names = (await readdir(path)).filter((name) => !name.startsWith('.')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  const file = join(work, 'authorities.pem');
  await writeFile(file, texts.join('\n'));
  return file;
}

/** Where Helm reads what registries want to know. */
export function registryConfigPath(work: string): string {
  return join(work, 'registry.json');
}

/**
 * Writes the credentials of `dockerRegistrySecret`, and those of `authSecret` for the host that it is for. Of a configuration of Docker
 * only these are taken: the rest of it may name programs. @throws HelmError
 */
export async function writeRegistryLogins(
  places: Places,
  { host, login }: { readonly host: string; readonly login: Login | undefined },
): Promise<void> {
  const own = login && Buffer.from(`${login.username}:${login.password}`).toString('base64');
  const auths = { ...(await dockerLogins(places)), ...(own === undefined ? {} : { [host]: { auth: own } }) };
  await writeFile(registryConfigPath(places.work), JSON.stringify({ auths }), { mode: 0o600 });
}

async function dockerLogins({ root }: Places): Promise<object> {
  const path = join(root, 'home/klipper-helm/.docker/config.json');
  if (!existsSync(path)) return {};
  try {
    const { auths = {} } = JSON.parse(await readFile(path, 'utf8')) as { readonly auths?: object };
    return auths;
  } catch (cause) {
    const words = `the Secret of dockerRegistrySecret has no JSON in .dockerconfigjson: ${String(cause)}`;
    throw new HelmError(failureNamed('CredentialsRefused'), words);
  }
}

/**
 * Makes Helm use credentials for a chart that is named by the address of its archive: it takes those of a repository whose index has
 * that address.
 */
export async function writeArchiveLogin(
  { work }: Places,
  {
    address,
    login,
    passesCredentials,
  }: { readonly address: string; readonly login: Login; readonly passesCredentials: boolean },
): Promise<void> {
  const index = {
    apiVersion: 'v1',
    entries: { archive: [{ apiVersion: 'v2', name: 'archive', version: '0.0.0', urls: [address] }] },
  };
  const repository = {
    name: 'archive',
    url: address.slice(0, address.lastIndexOf('/')),
    ...login,
    pass_credentials_all: passesCredentials,
  };
  await mkdir(join(work, 'cache/repository'), { recursive: true });
  await mkdir(join(work, 'config'), { recursive: true });
  await writeFile(join(work, 'cache/repository/archive-index.yaml'), JSON.stringify(index));
  const file = JSON.stringify({ apiVersion: '', repositories: [repository] });
  await writeFile(join(work, 'config/repositories.yaml'), file, { mode: 0o600 });
}
