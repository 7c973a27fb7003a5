import { dns1123SubdomainErrors } from '@sheaf/api';
import { ipFamily, parseCidr } from '@sheaf/api/kinds/address-checks';
import { jsonObjectOf, SettingProblem, stringField, stringsField } from '@sheaf/api/setting/index';
import type { ClusterRule } from './rule.ts';

/** Time servers: addresses or host names, each once. */
export function timeServers(text: string): void {
  const servers = stringsField(jsonObjectOf(text), 'ntpServers');
  for (const [index, server] of servers.entries()) {
    if (servers.indexOf(server) !== index)
      throw new SettingProblem(`${server} is there twice`, 'Name each server once.');
    if (server.includes('://'))
      throw new SettingProblem(`${server} is an URL`, 'Write the host name or address alone.');
    if (ipFamily(server) === 0 && (server === '' || dns1123SubdomainErrors(server.toLowerCase()).length > 0))
      throw new SettingProblem(
        `${JSON.stringify(server)} is neither an address nor a host name`,
        'Write e.g. 0.pool.ntp.org or 10.0.0.1.',
      );
  }
}

/** Namespace by namespace: networks with commas between them. */
export function addressPools(text: string): void {
  const object = jsonObjectOf(text);
  for (const namespace of Object.keys(object)) {
    const wrong = stringField(object, namespace)
      .split(',')
      .find((network) => parseCidr(network.trim()) === undefined);
    if (wrong !== undefined)
      throw new SettingProblem(
        `the pool of ${namespace} has ${JSON.stringify(wrong)}, which is no network`,
        'Write networks with commas between them, such as 10.1.0.0/24,10.2.0.0/24.',
      );
  }
}

interface ProxyConfig {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

export function proxy(text: string): ProxyConfig {
  const object = jsonObjectOf(text);
  return {
    httpProxy: stringField(object, 'httpProxy'),
    httpsProxy: stringField(object, 'httpsProxy'),
    noProxy: stringField(object, 'noProxy'),
  };
}

interface NodeAddresses {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

/** Nodes reach each other without the proxy. */
export const proxySparesNodes: ClusterRule = ({ setting, objects }) => {
  if (!setting.value) return;
  const { httpProxy, httpsProxy, noProxy } = proxy(setting.value);
  if (httpProxy === '' && httpsProxy === '') return;
  const spared = noProxy.split(',').map((entry) => entry.trim());
  const missing = objects
    .list({ group: '', resource: 'nodes' })
    .flatMap((node) => (node as NodeAddresses).status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address)
    .filter((address) => !spared.some((entry) => entry === address || contains(entry, address)));
  if (missing.length > 0)
    throw new SettingProblem(
      `noProxy does not cover the nodes ${missing.join(', ')}`,
      'Add their addresses, or a network that holds them, to noProxy.',
    );
};

function contains(network: string, address: string): boolean {
  const outer = parseCidr(network);
  const inner = outer && parseCidr(`${address}/${outer.length}`);
  return inner !== undefined && inner.family === outer?.family && inner.bits === outer.bits;
}

/** The address by which the cluster is registered elsewhere; alone, or with how it is trusted. */
export function registrationUrl(text: string): void {
  const url = text.trimStart().startsWith('{') ? stringField(jsonObjectOf(text), 'url') : text;
  if (url !== '' && !/^https?:\/\/[^\s/]+/.test(url))
    throw new SettingProblem(
      `${JSON.stringify(url)} is no URL`,
      'Copy the registration URL as it is shown: https://HOST/v3/import/….yaml.',
    );
}
