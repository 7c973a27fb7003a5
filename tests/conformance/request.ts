import { encodeEnvelope } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { stringify } from 'yaml';
import type { RawRequest } from './send.ts';
import { type Exchange, filled, filledText } from './theme.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const meta = 'g=meta.k8s.io;v=v1';

const accepts: Readonly<Record<string, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf,
  table: `application/json;as=Table;${meta}`,
  metadata: `application/json;as=PartialObjectMetadata;${meta}`,
  'metadata-list': `application/json;as=PartialObjectMetadataList;${meta}`,
  discovery: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
};

const types: Readonly<Record<string, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf,
  merge: 'application/merge-patch+json',
  'json-patch': 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** The request of an exchange as it goes over the wire. */
export function rawRequest(exchange: Exchange, values: ReadonlyMap<string, string>): RawRequest {
  const line = filledText(exchange.send ?? '', values);
  const space = line.indexOf(' ');
  const method = line.slice(0, space);
  const path = line.slice(space + 1);
  const body = bodyOf(exchange, values);
  const headers: Record<string, string | readonly string[]> = {
    'user-agent': 'conformance/1',
    ...(exchange.accept === undefined ? {} : { accept: accepts[exchange.accept] ?? exchange.accept }),
    ...typeHeader(exchange, body),
    ...userHeaders(filledText(exchange.user ?? '', values)),
    ...(filled(exchange.headers ?? {}, values) as Record<string, string>),
  };
  return {
    method,
    path: encodeURI(path).replaceAll('%25', '%'),
    headers,
    body,
    withCertificate: !/^(anonymous$|token:)/.test(exchange.user ?? ''),
    overHttp2: exchange.protocol === 'h2',
  };
}

function bodyOf(exchange: Exchange, values: ReadonlyMap<string, string>): Buffer | undefined {
  if (exchange.body === undefined) return undefined;
  const body = filled(exchange.body, values);
  if (typeof body === 'string') return Buffer.from(body, 'utf8');
  if (exchange.as === 'yaml') return Buffer.from(stringify(body), 'utf8');
  if (exchange.as === 'protobuf') return Buffer.from(encodeEnvelope(body as JsonObject));
  return Buffer.from(JSON.stringify(body), 'utf8');
}

function typeHeader(exchange: Exchange, body: Buffer | undefined): Record<string, string> {
  const type = exchange.type ?? exchange.as ?? 'json';
  if (type === 'none' || (body === undefined && exchange.type === undefined)) return {};
  return { 'content-type': types[type] ?? type };
}

function userHeaders(user: string): Record<string, string | readonly string[]> {
  if (user === '' || user === 'anonymous') return {};
  if (user.startsWith('token:')) return { authorization: `Bearer ${user.slice('token:'.length)}` };
  const [name = '', groups = ''] = user.split('/');
  return {
    'impersonate-user': name,
    ...(groups === '' ? {} : { 'impersonate-group': groups.split(',') }),
  };
}
