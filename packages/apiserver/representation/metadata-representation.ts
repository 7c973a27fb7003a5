import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { jsonFormat } from './formats.ts';
import type { Format, Representation } from './representation.ts';
import type { ServedObject } from './served-object.ts';

/** `as=PartialObjectMetadata` and `as=PartialObjectMetadataList`: what collectors and metadata informers read. */
export function metadataRepresentation(metaVersion: string, format: Format): Representation {
  const apiVersion = `meta.k8s.io/${metaVersion}`;
  const isPlainJson = format === jsonFormat;
  const head = `{"kind":"PartialObjectMetadata","apiVersion":"${apiVersion}","metadata":`;
  const encode = (served: ServedObject): Uint8Array =>
    isPlainJson
      ? Buffer.from(`${head}${served.metadataText}}`, 'utf8')
      : format.encode(partialMetadata(served.object, apiVersion));
  return {
    key: `metadata/${metaVersion}/${format.contentType}`,
    contentType: format.contentType,
    watchContentType: format.watchContentType,
    marksFirstFrame: false,
    one: encode,
    list(items, meta) {
      const list = { kind: 'PartialObjectMetadataList', apiVersion, metadata: { ...meta } };
      if (!isPlainJson)
        return format.encode({
          ...list,
          items: items.map((item) => partialMetadata(item.object, apiVersion)),
        });
      const texts = items.map((item) => `${head}${item.metadataText}}`);
      return Buffer.from(`${JSON.stringify(list).slice(0, -1)},"items":[${texts.join(',')}]}`, 'utf8');
    },
    frame(type, served) {
      return format.frame(type, encode(served));
    },
    bookmark(revision, annotations) {
      const metadata = {
        resourceVersion: revision,
        ...(annotations ? { annotations } : {}),
      };
      return format.frame('BOOKMARK', format.encode({ kind: 'PartialObjectMetadata', apiVersion, metadata }));
    },
  };
}

export function partialMetadata(object: KubeObject, apiVersion: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata as unknown as JsonObject };
}
