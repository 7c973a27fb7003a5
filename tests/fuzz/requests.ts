import { encodeEnvelope } from '@sheaf/api';
import type { JsonObject, Random } from '@sheaf/base';
import { mutateBytes, mutateValue, oddTexts, pick } from './mutations.ts';
import { objects } from './objects.ts';
import { type FuzzRequest, wellFormedRequest } from './well-formed.ts';

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const;
const parameters = [
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'gracePeriodSeconds',
  'propagationPolicy',
  'pretty',
  'includeObject',
  'sendInitialEvents',
] as const;
const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'text/html',
  ';;;',
  'application/json;q=x',
] as const;
const subresources = [
  'status',
  'scale',
  'log',
  'exec',
  'eviction',
  'binding',
  'token',
  'finalize',
  'ephemeralcontainers',
  'nonsense',
] as const;

/** One in six is right in every way, so that the others meet objects to be confused with. */
export function randomRequest(random: Random): FuzzRequest {
  return random.integer(6) === 0 ? wellFormedRequest(random) : oddRequest(random);
}

function oddRequest(random: Random): FuzzRequest {
  const [collection, object] = pick(random, objects);
  const method = pick(random, [
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'GET',
    'POST',
    'PATCH',
    'OPTIONS',
  ] as const);
  const headers: Record<string, string> = {
    accept: pick(random, accepts),
    'user-agent': pick(random, ['fuzz/1', '', 'kubectl/v1.32', 'curl/8']),
  };
  const name = `${collection}/${
    random.integer(9) === 0
      ? encodeURIComponent(
          pick(
            random,
            oddTexts.filter((text) => text !== '\ud800'),
          ),
        )
      : 'a'
  }`;
  const target = method === 'POST' || (method === 'GET' && random.integer(2) === 0) ? collection : name;
  const path =
    random.integer(12) === 0
      ? `${target}/${pick(random, subresources)}`
      : random.integer(30) === 0
        ? oddPath(random, target)
        : target;
  return {
    method,
    path,
    query: randomQuery(random, method),
    headers,
    body: randomBody(random, { method, object, headers }),
  };
}

function oddPath(random: Random, target: string): string {
  return pick(random, [
    target.replace('/v1/', '/v9/'),
    `${target}//`,
    target.replace('namespaces/fuzz', 'namespaces'),
    `/api/${target}`,
    `${target}/%E0%A4%A`,
    '/apis/',
    '//',
    '/api/v1/watch/configmaps/x/y/z',
  ]);
}

function randomQuery(random: Random, method: string): string {
  const query = new URLSearchParams();
  if (method === 'PATCH' && random.integer(3) > 0) query.set('fieldManager', 'fuzz');
  for (let count = random.integer(3); count > 0; count--)
    query.append(
      pick(random, parameters),
      random.integer(2) === 0
        ? pick(random, oddTexts)
        : pick(random, ['1', 'All', 'a=b', 'Strict', 'Exact', 'true', 'metadata.name=a', 'Foreground']),
    );
  return random.integer(20) === 0 ? `${query.toString()}&%=%&&&==` : query.toString();
}

function randomBody(
  random: Random,
  input: { method: string; object: JsonObject; headers: Record<string, string> },
): Uint8Array {
  const { method, object, headers } = input;
  if (method === 'GET' || method === 'OPTIONS') return new Uint8Array();
  const mutated = mutateValue(random, object);
  if (method === 'DELETE')
    return Buffer.from(
      JSON.stringify(
        random.integer(2) === 0
          ? {}
          : mutateValue(random, {
              kind: 'DeleteOptions',
              apiVersion: 'v1',
              propagationPolicy: 'Background',
              preconditions: { uid: 'x' },
              gracePeriodSeconds: 5,
              dryRun: ['All'],
            }),
      ) ?? '',
    );
  if (method === 'PATCH') return patchBody(random, { object, mutated, headers });
  return objectBody(random, mutated, headers);
}

function objectBody(random: Random, mutated: unknown, headers: Record<string, string>): Uint8Array {
  const json = Buffer.from(JSON.stringify(mutated) ?? '');
  switch (random.integer(6)) {
    case 0:
      headers['content-type'] = 'application/yaml';
      return random.integer(2) === 0
        ? json
        : Buffer.from(`a: &a [*a, b]\nc: ${'['.repeat(random.integer(300))}\n`);
    case 1:
      headers['content-type'] = 'application/vnd.kubernetes.protobuf';
      return mutateBytes(random, protobufOf(mutated) ?? json);
    case 2:
      headers['content-type'] = pick(random, [
        'application/json',
        'text/plain',
        '',
        'application/json; charset=utf-8',
      ]);
      return mutateBytes(random, json);
    default:
      headers['content-type'] = 'application/json';
      return json;
  }
}

function protobufOf(value: unknown): Uint8Array | undefined {
  try {
    return encodeEnvelope(value as JsonObject);
  } catch {
    return undefined;
  }
}

function patchBody(
  random: Random,
  { object, mutated, headers }: { object: JsonObject; mutated: unknown; headers: Record<string, string> },
): Uint8Array {
  const type = pick(random, patchTypes);
  headers['content-type'] = type;
  if (type !== 'application/json-patch+json') return Buffer.from(JSON.stringify(mutated) ?? '');
  const paths = [
    '/metadata/labels/x',
    '/spec',
    '/data/k',
    '/metadata/finalizers/-',
    '/metadata/name',
    '/',
    '',
    '/spec/~1',
    '/~2',
    '/metadata/managedFields',
    '/spec/template/spec/containers/0',
    '/spec/containers/99999999999',
  ];
  const operations = Array.from({ length: 1 + random.integer(4) }, () => ({
    op: pick(random, ['add', 'remove', 'replace', 'move', 'copy', 'test', 'zork']),
    path: pick(random, paths),
    from: pick(random, paths),
    value: mutateValue(random, object['spec'] ?? object),
  }));
  return Buffer.from(JSON.stringify(random.integer(10) === 0 ? mutated : operations) ?? '');
}
