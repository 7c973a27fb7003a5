import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { ResourceRef } from '@sheaf/client';
import { startTestServer, type TestServer, type TestServerOptions } from '@sheaf/testkit';

export type Fields = Record<string, unknown>;

/** A built-in resource: `pods`, `deployments.apps`, `nodes` … */
export function resource(id: string, kind: string, namespaced = true): ResourceRef {
  const [plural = '', ...group] = id.split('.');
  return { group: group.join('.'), version: 'v1', plural, kind, namespaced };
}

export const kinds = {
  namespaces: resource('namespaces', 'Namespace', false),
  configMaps: resource('configmaps', 'ConfigMap'),
  accounts: resource('serviceaccounts', 'ServiceAccount'),
  pods: resource('pods', 'Pod'),
  services: resource('services', 'Service'),
};

/** A server with the namespace `default` and its account. */
export async function startAdmissionServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  await server.client.create(kinds.namespaces, { metadata: { name: 'default' } });
  await server.client.create(kinds.accounts, { metadata: { name: 'default', namespace: 'default' } });
  return server;
}

/** An object in `default`. */
export function named(name: string, fields: Fields = {}): KubeObject {
  return { metadata: { name, namespace: 'default' }, ...fields };
}

export function pod(name: string, spec: Fields = {}): KubeObject {
  return named(name, { spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...spec } });
}

/** `403 text` of a refusal; `ok` if there is none. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    return `${error.code} ${error.message}`;
  }
}
