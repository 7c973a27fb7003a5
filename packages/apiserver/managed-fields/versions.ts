import type { TypeSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { fieldElement } from './field-path.ts';
import { emptySet, type FieldSet, setOf } from './field-set.ts';

/** Paths of field names, e.g. `[['status'], ['metadata', 'labels']]`; everything below them is meant too. */
export type ResetFields = readonly (readonly string[])[];

const knownResetSets = new WeakMap<ResetFields, FieldSet>();

/** The paths as a set; the same list is turned only once. */
export function resetSetOf(fields: ResetFields | undefined): FieldSet {
  if (fields === undefined || fields.length === 0) return emptySet;
  let set = knownResetSets.get(fields);
  if (set === undefined) {
    set = setOf(...fields.map((path) => path.map(fieldElement)));
    knownResetSets.set(fields, set);
  }
  return set;
}

/** How a kind looks in one of its API versions. */
export interface VersionView {
  readonly apiVersion: string;
  readonly schema: TypeSchema;
  /** Fields this endpoint does not let anyone change in this version: nobody comes to own them here. */
  readonly resetFields?: ResetFields;
  /** The object, which is in the request's version, in this version; and the way back. Identity if absent. */
  readonly convert?: (object: JsonObject) => JsonObject;
  readonly convertBack?: (object: JsonObject) => JsonObject;
}

/** The kind in another API version than the request's; undefined if the kind has no such version (any more). */
export type FindVersion = (apiVersion: string) => VersionView | undefined;

/** What both ways of writing need to know of the request. */
export interface OwnershipContext {
  readonly manager: string;
  /** The request's API version, in which all its objects are. */
  readonly apiVersion: string;
  /** Empty for the main endpoint. */
  readonly subresource: string;
  readonly schema: TypeSchema;
  /** `status` on the main endpoint of a kind that has the subresource, everything else on `/status`. */
  readonly resetFields?: ResetFields;
  /** RFC 3339, seconds, UTC. */
  readonly now: string;
  /** Absent: entries of other versions are taken as if they were of this one. */
  readonly findVersion?: FindVersion;
}

export function viewOf(context: OwnershipContext, apiVersion: string): VersionView | undefined {
  if (apiVersion !== context.apiVersion && context.findVersion) return context.findVersion(apiVersion);
  return { apiVersion, schema: context.schema, resetFields: context.resetFields ?? [] };
}

export function convertTo(view: VersionView, object: JsonObject): JsonObject {
  return view.convert ? view.convert(object) : object;
}

export function convertFrom(view: VersionView, object: JsonObject): JsonObject {
  return view.convertBack ? view.convertBack(object) : object;
}
