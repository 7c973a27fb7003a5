import type { FieldError, JsonSchema } from '@sheaf/api';
import { badRequest, type JsonObject, type JsonValue } from '@sheaf/base';
import { type Check, compileCheck } from './check.ts';
import { compileDefaults } from './defaults.ts';
import { coerceEmbedded, hasEmbedded, validateEmbedded } from './embedded.ts';
import { explain } from './explain.ts';
import { goQuote } from './go-text.ts';
import { compileDuplicates, type DuplicateFinder } from './list-types.ts';
import { accessorFault, isCanonicalMeta, MetadataFault, readMeta } from './object-meta.ts';
import { compileCleanTest, pruneNulls, pruneUnknown } from './prune.ts';
import { readSchema, type SchemaNode } from './schema-node.ts';

export interface PruneOptions {
  /** Metadata of the wrong type is dropped instead of refused: for objects that are already stored. */
  readonly dropInvalidMetadata?: boolean;
}

/** A custom resource's schema in one version, made ready. All methods work on whole objects, in place. */
export interface CompiledSchema {
  readonly root: SchemaNode;
  /**
   * Brings an object into the schema's shape: unknown fields and forbidden nulls are dropped, metadata (also of
   * embedded resources) is read as ObjectMeta. Returns the paths of dropped fields, e.g. `spec.zork`.
   * @throws StatusError 400 when metadata, kind or apiVersion have the wrong type
   */
  prune(object: JsonObject, options?: PruneOptions): readonly string[];
  applyDefaults(object: JsonObject): void;
  /** All errors of an object, except those of its metadata and its rules; with `old`, only of what changed. */
  validate(object: JsonObject, old?: JsonObject): readonly FieldError[];
  /** The same for a write to `/status`, which looks at the status alone. */
  validateStatus(object: JsonObject, old: JsonObject): readonly FieldError[];
}

/**
 * Compiles a schema that has passed `validateDefinition`. Without a schema everything is dropped but apiVersion, kind
 * and metadata.
 * @throws SchemaTooDeep
 */
export function compileSchema(schema: JsonSchema | undefined): CompiledSchema {
  const root = readSchema(schema);
  const check = compileCheck(root);
  const status = root.properties.get('status');
  const parts: Parts = {
    root,
    findDuplicates: compileDuplicates(root),
    hasEmbedded: hasEmbedded(root) || root.embeddedResource,
  };
  const checkStatus = status === undefined ? undefined : compileCheck(status);
  return {
    root,
    prune: compilePrune(parts),
    applyDefaults: compileDefaults(root) ?? (() => {}),
    validate: (object, old) => validate(parts, check, { object, old }),
    validateStatus: (object, old) => validateStatus(parts, checkStatus, { object, old }),
  };
}

/** The same, made ready by its first use: of the many kinds that a server knows, few are in use. */
export function compileSchemaLazily(schema: JsonSchema | undefined): CompiledSchema {
  let compiled: CompiledSchema | undefined;
  const ready = (): CompiledSchema => {
    compiled ??= compileSchema(schema);
    return compiled;
  };
  return {
    get root() {
      return ready().root;
    },
    prune: (object, options) => ready().prune(object, options),
    applyDefaults: (object) => ready().applyDefaults(object),
    validate: (object, old) => ready().validate(object, old),
    validateStatus: (object, old) => ready().validateStatus(object, old),
  };
}

interface Parts {
  readonly root: SchemaNode;
  readonly findDuplicates: DuplicateFinder | undefined;
  readonly hasEmbedded: boolean;
}

function compilePrune(parts: Parts): CompiledSchema['prune'] {
  const isClean = compileCleanTest(parts.root, true);
  return (object, options = {}) => {
    const dropInvalid = options.dropInvalidMetadata === true;
    checkTypeMeta(object);
    if (isCanonicalMeta(object['metadata']) && isClean(object)) return [];
    const unknown: string[] = [];
    try {
      const metadata = readRootMeta(object, { dropInvalid, unknown });
      if (!isClean(object)) pruneSlowly(parts, object, { dropInvalid, unknown });
      if (metadata !== undefined) object['metadata'] = metadata;
    } catch (error) {
      if (error instanceof MetadataFault) throw cannotBeHandled(object, error.message);
      throw error;
    }
    return unknown;
  };
}

interface PruneState {
  readonly dropInvalid: boolean;
  readonly unknown: string[];
}

function pruneSlowly(parts: Parts, object: JsonObject, state: PruneState): void {
  const unknown: string[] = [];
  pruneUnknown(object, parts.root, { unknown, isRoot: true });
  state.unknown.push(...unknown.sort());
  pruneNulls(object, parts.root);
  if (!parts.hasEmbedded) return;
  const embedded: string[] = [];
  coerceEmbedded(object, parts.root, { dropInvalid: state.dropInvalid, unknown: embedded });
  state.unknown.push(...embedded.sort());
}

function readRootMeta(object: JsonObject, state: PruneState): JsonObject | undefined {
  if (object['metadata'] === undefined) return undefined;
  const unknown: string[] = [];
  const metadata = readMeta(object['metadata'], { ...state, unknown, path: 'metadata' });
  state.unknown.push(...unknown);
  return metadata;
}

function checkTypeMeta(object: JsonObject): void {
  for (const key of ['kind', 'apiVersion']) {
    const value = object[key];
    if (value === undefined || typeof value === 'string') continue;
    throw badRequest(accessorFault(key, value));
  }
}

function cannotBeHandled(object: JsonObject, reason: string): Error {
  const kind = textOf(object['kind']);
  const apiVersion = textOf(object['apiVersion']);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return badRequest(`${kind} in version ${goQuote(version)} cannot be handled as a ${kind}: ${reason}`);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

interface Change {
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
}

function validate(parts: Parts, check: Check, { object, old }: Change): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!check(object)) {
    const correlation = old === undefined ? undefined : { value: old, isRoot: true };
    errors.push(...explain(parts.root, { value: object, path: '', old: correlation }));
  }
  if (parts.hasEmbedded) errors.push(...validateEmbedded(object, parts.root));
  addDuplicates(parts, { object, old }, errors);
  return errors;
}

/** Uniqueness is not asked of an object whose old state already broke it. */
function addDuplicates(parts: Parts, { object, old }: Change, errors: FieldError[]): void {
  if (parts.findDuplicates === undefined) return;
  const found: FieldError[] = [];
  parts.findDuplicates(object, rootPath, found);
  if (found.length === 0) return;
  const before: FieldError[] = [];
  if (old !== undefined) parts.findDuplicates(old, rootPath, before);
  if (before.length === 0) errors.push(...found);
}

function rootPath(): string {
  return '';
}

function validateStatus(parts: Parts, check: Check | undefined, change: Change): readonly FieldError[] {
  const errors: FieldError[] = [];
  const status = change.object['status'];
  const schema = parts.root.properties.get('status');
  if (schema !== undefined && check !== undefined && status !== undefined && !check(status)) {
    errors.push(...explainStatus(schema, status, change.old));
  }
  addDuplicates(parts, change, errors);
  return errors;
}

function explainStatus(
  schema: SchemaNode,
  status: JsonValue,
  old: JsonObject | undefined,
): readonly FieldError[] {
  const before = old?.['status'];
  const correlation = before === undefined ? undefined : { value: before, isRoot: true };
  const errors = explain(schema, { value: status, path: '', old: correlation });
  return errors.map((error) => ({ ...error, field: statusField(error.field) }));
}

function statusField(field: string): string {
  return field === '<nil>' ? 'status' : `status.${field}`;
}

/** Whether errors keep the rules of a schema from being run, as a field error that says so. */
export function findBlockingError(errors: readonly FieldError[]): FieldError | undefined {
  if (!errors.some((error) => blockingTypes.has(error.type))) return undefined;
  return {
    type: 'FieldValueInvalid',
    field: '<nil>',
    message:
      'Invalid value: null: some validation rules were not checked because the object was invalid; ' +
      'correct the existing errors to complete validation',
  };
}

const blockingTypes: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
