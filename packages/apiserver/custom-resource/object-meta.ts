import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { goNumber, goQuote, jsonTypeOf } from './go-text.ts';
import { setField } from './object-fields.ts';
import { isCanonicalTime, readTime, timeFault } from './rfc3339.ts';

/** What is wrong with a metadata, worded as a typed decoder would. */
export class MetadataFault extends Error {}

/** How one field of `metav1.ObjectMeta` is read. */
interface FieldType {
  /** The field's type as the decoder names it. */
  readonly goType: string;
  readonly kind: 'string' | 'integer' | 'boolean' | 'time' | 'strings' | 'string-map' | 'structs' | 'raw';
  /** Written even when it is the zero value: pointers, and the required fields of owner references. */
  readonly keepsZero?: boolean;
  readonly fields?: StructType;
}

interface StructType {
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldType>;
}

const string: FieldType = { goType: 'string', kind: 'string' };
const requiredString: FieldType = { ...string, keepsZero: true };
const optionalBoolean: FieldType = { goType: 'bool', kind: 'boolean', keepsZero: true };
const time: FieldType = { goType: 'string', kind: 'time' };
const stringMap: FieldType = { goType: 'map[string]string', kind: 'string-map' };

const ownerReference: StructType = {
  name: 'OwnerReference',
  fields: new Map([
    ['apiVersion', requiredString],
    ['kind', requiredString],
    ['name', requiredString],
    ['uid', requiredString],
    ['controller', optionalBoolean],
    ['blockOwnerDeletion', optionalBoolean],
  ]),
};

const managedFieldsEntry: StructType = {
  name: 'ManagedFieldsEntry',
  fields: new Map([
    ['manager', string],
    ['operation', string],
    ['apiVersion', string],
    ['time', time],
    ['fieldsType', string],
    ['fieldsV1', { goType: 'v1.FieldsV1', kind: 'raw' }],
    ['subresource', string],
  ]),
};

const objectMeta: StructType = {
  name: 'ObjectMeta',
  fields: new Map([
    ['name', string],
    ['generateName', string],
    ['namespace', string],
    ['selfLink', string],
    ['uid', string],
    ['resourceVersion', string],
    ['generation', { goType: 'int64', kind: 'integer' }],
    ['creationTimestamp', time],
    ['deletionTimestamp', time],
    ['deletionGracePeriodSeconds', { goType: 'int64', kind: 'integer', keepsZero: true }],
    ['labels', stringMap],
    ['annotations', stringMap],
    ['ownerReferences', { goType: '[]v1.OwnerReference', kind: 'structs', fields: ownerReference }],
    ['finalizers', { goType: '[]string', kind: 'strings' }],
    ['managedFields', { goType: '[]v1.ManagedFieldsEntry', kind: 'structs', fields: managedFieldsEntry }],
  ]),
};

/** True when reading `value` as ObjectMeta would neither fail nor change it. */
export function isCanonicalMeta(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && isCanonicalStruct(value, objectMeta);
}

function isCanonicalStruct(value: JsonObject, struct: StructType): boolean {
  for (const key in value) {
    const type = struct.fields.get(key);
    if (type === undefined || !isCanonicalField(value[key], type)) return false;
  }
  return struct !== ownerReference || hasRequired(value);
}

function hasRequired(value: JsonObject): boolean {
  return (
    value['apiVersion'] !== undefined &&
    value['kind'] !== undefined &&
    value['name'] !== undefined &&
    value['uid'] !== undefined
  );
}

function isCanonicalField(value: JsonValue | undefined, type: FieldType): boolean {
  return canonicalTests[type.kind](value, type);
}

type CanonicalTest = (value: JsonValue | undefined, type: FieldType) => boolean;

const canonicalTests: Readonly<Record<FieldType['kind'], CanonicalTest>> = {
  string: (value, type) => typeof value === 'string' && (value !== '' || type.keepsZero === true),
  integer: (value, type) => Number.isSafeInteger(value) && (value !== 0 || type.keepsZero === true),
  boolean: (value) => typeof value === 'boolean',
  time: (value) => typeof value === 'string' && isCanonicalTime(value),
  'string-map': (value) => isJsonObject(value) && isCanonicalMap(value),
  raw: (value) => value !== null,
  strings: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'),
  structs: (value, type) =>
    Array.isArray(value) && value.length > 0 && value.every((item) => isCanonicalItem(item, type)),
};

function isCanonicalItem(item: JsonValue, type: FieldType): boolean {
  return isJsonObject(item) && type.fields !== undefined && isCanonicalStruct(item, type.fields);
}

function isCanonicalMap(value: JsonObject): boolean {
  let size = 0;
  for (const key in value) {
    if (typeof value[key] !== 'string') return false;
    size++;
  }
  return size > 0;
}

export interface ReadMetaOptions {
  /** Fields of the wrong type are dropped instead of failing: for what is already stored. */
  readonly dropInvalid: boolean;
  /** Collects the paths of fields that ObjectMeta does not have. */
  readonly unknown: string[];
  /** The path of the metadata, e.g. `metadata`. */
  readonly path: string;
}

/** Reads a value as ObjectMeta: the result has only its fields, in their types, without empty ones. Throws MetadataFault. */
export function readMeta(value: JsonValue | undefined, options: ReadMetaOptions): JsonObject {
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) {
    throw new MetadataFault(`json: cannot unmarshal ${goKind(value)} into Go value of type v1.ObjectMeta`);
  }
  return readStruct(value, objectMeta, { ...options, field: '' });
}

interface ReadState extends ReadMetaOptions {
  /** The dotted path of decoder messages, below ObjectMeta. */
  readonly field: string;
}

function readStruct(value: JsonObject, struct: StructType, state: ReadState): JsonObject {
  const result: JsonObject = {};
  const isOwner = struct === ownerReference;
  if (isOwner) Object.assign(result, { apiVersion: '', kind: '', name: '', uid: '' });
  for (const key of Object.keys(value).sort()) {
    const type = struct.fields.get(key);
    if (type === undefined) {
      state.unknown.push(`${state.path}.${key}`);
      continue;
    }
    const below = { ...state, path: `${state.path}.${key}`, field: join(state.field, key) };
    const read = readOrDrop(value[key], { type, owner: struct.name }, below);
    if (read !== undefined) result[key] = read;
  }
  return result;
}

function join(field: string, key: string): string {
  return field === '' ? key : `${field}.${key}`;
}

interface Slot {
  readonly type: FieldType;
  /** The struct the field belongs to. */
  readonly owner: string;
}

function readOrDrop(value: JsonValue | undefined, slot: Slot, state: ReadState): JsonValue | undefined {
  try {
    return readField(value, slot, state);
  } catch (error) {
    if (state.dropInvalid && error instanceof MetadataFault && !state.field.includes('.')) return undefined;
    throw error;
  }
}

function readField(value: JsonValue | undefined, slot: Slot, state: ReadState): JsonValue | undefined {
  if (value === null || value === undefined) return undefined;
  return readers[slot.type.kind](value, slot, state);
}

type FieldReader = (value: JsonValue, slot: Slot, state: ReadState) => JsonValue | undefined;

const readers: Readonly<Record<FieldType['kind'], FieldReader>> = {
  string: readString,
  integer: readInteger,
  boolean: readBoolean,
  time: readTimeField,
  raw: (value) => value,
  'string-map': readStringMap,
  strings: readList,
  structs: readList,
};

function readString(value: JsonValue, slot: Slot, state: ReadState): string | undefined {
  if (typeof value !== 'string') throw mismatch(value, slot, state);
  return value !== '' || slot.type.keepsZero ? value : undefined;
}

function readBoolean(value: JsonValue, slot: Slot, state: ReadState): boolean {
  if (typeof value !== 'boolean') throw mismatch(value, slot, state);
  return value;
}

function readInteger(value: JsonValue, slot: Slot, state: ReadState): JsonValue | undefined {
  if (typeof value !== 'number') throw mismatch(value, slot, state);
  if (!Number.isInteger(value)) throw mismatch(value, slot, { ...state, shown: ` ${goNumber(value)}` });
  return value !== 0 || slot.type.keepsZero ? value : undefined;
}

function readTimeField(value: JsonValue, slot: Slot, state: ReadState): string {
  if (typeof value !== 'string') throw mismatch(value, slot, state);
  const read = readTime(value);
  if (read === undefined) throw new MetadataFault(timeFault(value));
  return read;
}

function readStringMap(value: JsonValue, slot: Slot, state: ReadState): JsonObject | undefined {
  if (!isJsonObject(value)) throw mismatch(value, slot, state);
  const result: JsonObject = {};
  const keys = Object.keys(value).sort();
  for (const key of keys) {
    const item = value[key];
    if (item !== null && typeof item !== 'string') {
      throw mismatch(item, { ...slot, type: string }, state);
    }
    setField(result, key, item ?? '');
  }
  return keys.length > 0 ? result : undefined;
}

function readList(value: JsonValue, slot: Slot, state: ReadState): JsonValue[] | undefined {
  if (!Array.isArray(value)) throw mismatch(value, slot, state);
  if (value.length === 0) return undefined;
  const item: FieldType = { goType: slot.type.goType.slice(2), kind: 'raw' };
  const { fields } = slot.type;
  return value.map((element, index) => {
    if (fields === undefined) {
      if (element !== null && typeof element !== 'string')
        throw mismatch(element, { ...slot, type: item }, state);
      return element ?? '';
    }
    if (element !== null && !isJsonObject(element)) throw mismatch(element, { ...slot, type: item }, state);
    return readStruct(element ?? {}, fields, { ...state, path: `${state.path}[${index}]` });
  });
}

interface MismatchState extends ReadState {
  readonly shown?: string;
}

function mismatch(value: JsonValue | undefined, slot: Slot, state: MismatchState): MetadataFault {
  return new MetadataFault(
    `json: cannot unmarshal ${goKind(value)}${state.shown ?? ''} into Go struct field ` +
      `${slot.owner}.${state.field} of type ${slot.type.goType}`,
  );
}

function goKind(value: JsonValue | undefined): string {
  const type = jsonTypeOf(value);
  if (type === 'boolean') return 'bool';
  return type === 'integer' ? 'number' : type;
}

/** How an ill-typed `kind` or `apiVersion` is reported. */
export function accessorFault(path: string, value: JsonValue): string {
  const shown = typeof value === 'number' ? goNumber(value) : typeof value === 'string' ? goQuote(value) : '';
  const types: Readonly<Record<string, string>> = {
    integer: 'int64',
    number: 'float64',
    boolean: 'bool',
    object: 'map[string]interface {}',
    array: '[]interface {}',
  };
  const type = types[jsonTypeOf(value)] ?? '<nil>';
  return `.${path} accessor error: ${shown || JSON.stringify(value)} is of the type ${type}, expected string`;
}
