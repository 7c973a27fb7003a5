import { isJsonObject, type JsonObject, type JsonValue, Secret } from '@sheaf/base';
import { parse } from 'yaml';
import type { HttpTransportOptions } from './http-transport.ts';

/** A kubeconfig that cannot be used; the message says why. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** What the current context of a kubeconfig says about reaching its server. Only embedded credentials are read. @throws KubeconfigError */
export function readKubeconfig(text: string): HttpTransportOptions {
  const config = asObject(parse(text) as JsonValue, 'the kubeconfig');
  const context = named(config, 'context', textOf(config['current-context']));
  const cluster = named(config, 'cluster', textOf(context['cluster']));
  const user = named(config, 'user', textOf(context['user']));
  const server = textOf(cluster['server']);
  if (server === '') throw new KubeconfigError('the kubeconfig names no server');
  const authority = decoded(cluster['certificate-authority-data']);
  const credentials = readCredentials(user);
  return { server, ...(authority === '' ? {} : { authority }), ...(credentials ? { credentials } : {}) };
}

function readCredentials(user: JsonObject): HttpTransportOptions['credentials'] {
  const token = textOf(user['token']);
  if (token !== '') return { token: new Secret(token) };
  const certificate = decoded(user['client-certificate-data']);
  if (certificate === '') return undefined;
  return { certificate, privateKey: new Secret(decoded(user['client-key-data'])) };
}

/** An entry of the list `<field>s`. */
function named(config: JsonObject, field: string, name: string): JsonObject {
  const items = config[`${field}s`];
  const found = Array.isArray(items)
    ? items.find((item) => isJsonObject(item) && item['name'] === name)
    : undefined;
  if (!isJsonObject(found))
    throw new KubeconfigError(`the kubeconfig has no ${field} ${JSON.stringify(name)}`);
  return asObject(found[field], `${field} ${JSON.stringify(name)}`);
}

function asObject(value: JsonValue | undefined, what: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new KubeconfigError(`${what} is not an object`);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function decoded(value: JsonValue | undefined): string {
  return Buffer.from(textOf(value), 'base64').toString('utf8');
}
