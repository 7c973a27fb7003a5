import { type KubeObject, toApiVersion } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';
import { itemLimit, itemTail, writeItem } from '../storage/object-bytes.ts';
import { jsonFormat } from './formats.ts';
import type { Format, ListMeta, Representation, WatchEventType } from './representation.ts';
import type { ServedObject } from './served-object.ts';

/** Objects as they are. */
export function objectRepresentation(resource: Resource, format: Format): Representation {
  const isPlainJson = format === jsonFormat;
  const encode = (served: ServedObject): Uint8Array => format.encode(served.object as unknown as JsonObject);
  return {
    key: `object/${format.contentType}/${resource.version}`,
    contentType: format.contentType,
    watchContentType: format.watchContentType,
    marksFirstFrame: false,
    one(served) {
      return isPlainJson ? served.bytes : encode(served);
    },
    list(items, meta) {
      return isPlainJson ? joinList(resource, items, meta) : format.encode(listObject(resource, items, meta));
    },
    frame(type: WatchEventType, served: ServedObject) {
      return format.frame(type, isPlainJson ? served.bytes : encode(served));
    },
    bookmark(revision, annotations) {
      const { kind, group, version } = resource;
      const metadata = {
        resourceVersion: revision,
        ...(annotations ? { annotations } : {}),
      };
      return format.frame(
        'BOOKMARK',
        format.encode({ kind, apiVersion: toApiVersion(group, version), metadata }),
      );
    },
  };
}

function listHead(resource: Resource, meta: ListMeta): JsonObject {
  return {
    kind: resource.listKind,
    apiVersion: toApiVersion(resource.group, resource.version),
    // Lists of custom resources always say how they go on.
    metadata: resource.isBuiltin ? { ...meta } : { continue: '', ...meta },
  };
}

function listObject(resource: Resource, items: readonly ServedObject[], meta: ListMeta): JsonObject {
  const objects = items.map((item) => (resource.isBuiltin ? withoutHead(item.object) : item.object));
  return { ...listHead(resource, meta), items: objects as unknown as JsonObject[] };
}

function withoutHead(object: KubeObject): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

/** Joins encoded items without parsing one: items of built-in kinds begin with their metadata. */
function joinList(resource: Resource, items: readonly ServedObject[], meta: ListMeta): Uint8Array {
  const head = Buffer.from(`${JSON.stringify(listHead(resource, meta)).slice(0, -1)},"items":[`, 'utf8');
  const isBare = resource.isBuiltin;
  const limit = items.reduce((sum, item) => sum + limitOf(item), head.length + 2);
  const joined = Buffer.allocUnsafeSlow(limit);
  let at = head.copy(joined);
  for (const item of items) {
    at = writeServed(joined, at, { item, isBare });
    joined[at++] = 0x2c;
  }
  if (items.length > 0) at--;
  joined[at++] = 0x5d;
  joined[at++] = 0x7d;
  return joined.subarray(0, at);
}

/** The most that an item and a comma need. */
function limitOf(item: ServedObject): number {
  const { kept } = item;
  return 1 + (kept ? itemLimit(kept.stored) : item.bytes.length);
}

function writeServed(
  target: Buffer,
  at: number,
  { item, isBare }: { item: ServedObject; isBare: boolean },
): number {
  const { kept } = item;
  if (kept) return writeItem(target, at, { stored: kept.stored, revision: kept.revision, isBare });
  if (!isBare) {
    target.set(item.bytes, at);
    return at + item.bytes.length;
  }
  const tail = itemTail(item.bytes);
  target[at] = 0x7b;
  target.set(tail, at + 1);
  return at + 1 + tail.length;
}
