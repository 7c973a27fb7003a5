import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runVariable } from '../host-processes/host-program.ts';
import { registryConfigPath } from './repository-access.ts';

export interface HelmPlaces {
  readonly root: string;
  readonly work: string;
}

export const accountPath = 'var/run/secrets/kubernetes.io/serviceaccount';
/**
 * Helm lives for less than a second and throws away most of what it has made: collecting that as often as Go does by itself takes a
 * quarter of its processor time. Where a chart is so large that it counts, it is collected all the same.
 */
const collection = { GOGC: '400', GOMEMLIMIT: '512MiB' };
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
/** Helm bears the name of its run: where what drives it is killed, it is ended before its end is told and another begins. */
const passedOn = [...proxies, runVariable];

/** Everything that Helm is told by variables; all its files are in the run's own directory. */
export function helmEnvironment({
  work,
  driver,
  variables,
}: Pick<HelmPlaces, 'work'> & {
  readonly driver: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}): Readonly<Record<string, string>> {
  const given = passedOn.flatMap((name): [string, string][] => {
    const value = variables[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(given),
    ...collection,
    HOME: work,
    TMPDIR: work,
    PATH: '/nonexistent',
    KUBECONFIG: join(work, 'kubeconfig'),
    HELM_DRIVER: driver,
    HELM_CACHE_HOME: join(work, 'cache'),
    HELM_CONFIG_HOME: join(work, 'config'),
    HELM_DATA_HOME: join(work, 'data'),
    HELM_PLUGINS: '/nonexistent',
    HELM_REGISTRY_CONFIG: registryConfigPath(work),
  };
}

/** The API as the account of the pod sees it. The token is read anew from its file when it is renewed. */
export async function writeKubeconfig({
  root,
  work,
  server,
}: HelmPlaces & { readonly server: string }): Promise<void> {
  const account = join(root, accountPath);
  const cluster = {
    server: `https://${server}`,
    'certificate-authority': join(account, 'ca.crt'),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'here', cluster }],
    users: [{ name: 'account', user: { tokenFile: join(account, 'token') } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'account' } }],
    'current-context': 'here',
  };
  await writeFile(join(work, 'kubeconfig'), JSON.stringify(config), { mode: 0o600 });
}
