import type { JsonObject } from '@sheaf/base';
import type { ServedObject } from './served-object.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** `metadata` of a list. */
export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The form that a client has asked for: a shape (object, Table, metadata only) in a format (JSON, YAML, protobuf). */
export interface Representation {
  /** Tells equal representations of one resource apart from others; frames are cached under it. */
  readonly key: string;
  readonly contentType: string;
  readonly watchContentType: string;
  one(served: ServedObject): Uint8Array;
  list(items: readonly ServedObject[], meta: ListMeta): Uint8Array;
  /** One watch event with an object of the resource. */
  frame(type: WatchEventType, served: ServedObject, isFirst: boolean): Uint8Array;
  /** True if the first event of a watch looks different (Table: column definitions). */
  readonly marksFirstFrame: boolean;
  bookmark(revision: string, annotations: Record<string, string> | undefined, isFirst: boolean): Uint8Array;
}

/** How JSON-shaped values become bytes. */
export interface Format {
  readonly name: 'json' | 'yaml' | 'protobuf';
  readonly contentType: string;
  readonly watchContentType: string;
  /** Any API object, with kind and apiVersion. */
  encode(object: JsonObject): Uint8Array;
  frame(type: WatchEventType, encoded: Uint8Array): Uint8Array;
}
