import { encodeEnvelope } from '@sheaf/api';
import { isJsonObject, type JsonObject, type Random } from '@sheaf/base';
import { pick } from './mutations.ts';
import { objects } from './objects.ts';

/** One request to throw at the server. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** The names that fit the rules of every kind; the malformed requests are about the first. */
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;

/** A request that no server may refuse for its form: mostly a create, else a change, a read or a delete. */
export function wellFormedRequest(random: Random): FuzzRequest {
  const [collection, object] = pick(random, objects);
  const named = namedObject(object, pick(random, names));
  const path = `${collection}/${nameOf(named)}`;
  const request = { query: '', headers: { accept: 'application/json' }, body: new Uint8Array() };
  switch (random.integer(8)) {
    case 0:
      return { ...request, method: 'GET', path };
    case 1:
      return { ...request, method: 'DELETE', path };
    case 2:
      return {
        ...request,
        method: 'PATCH',
        path,
        headers: { ...request.headers, 'content-type': 'application/merge-patch+json' },
        body: Buffer.from(JSON.stringify({ metadata: { labels: { x: pick(random, names) } } })),
      };
    default:
      return { ...request, method: 'POST', path: collection, ...encoded(random, named) };
  }
}

/** The object under another name; one whose name follows from its content, and a review, stay as they are. */
function namedObject(object: JsonObject, name: string): JsonObject {
  return nameOf(object) === 'a' ? { ...object, metadata: { ...metadataOf(object), name } } : object;
}

function nameOf(object: JsonObject): string {
  const name = metadataOf(object)['name'];
  return typeof name === 'string' ? name : 'a-review';
}

function metadataOf(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  return isJsonObject(metadata) ? metadata : {};
}

/** In protobuf where the kind has it, else in JSON, which is YAML too. */
function encoded(random: Random, object: JsonObject): Pick<FuzzRequest, 'headers' | 'body'> {
  const accept = 'application/json';
  const isCustom = object['apiVersion'] === 'example.com/v1';
  if (!isCustom && random.integer(4) === 0)
    return {
      headers: { accept, 'content-type': 'application/vnd.kubernetes.protobuf' },
      body: encodeEnvelope(object),
    };
  const type = random.integer(4) === 0 ? 'application/yaml' : 'application/json';
  return { headers: { accept, 'content-type': type }, body: Buffer.from(JSON.stringify(object)) };
}
