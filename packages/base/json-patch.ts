import { StatusError, type StatusReason } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonClone, jsonEqual } from './json.ts';
import { isWithinDepth, maxJsonDepth, ownField, setField, shallowCopy } from './json-fields.ts';

/** One operation of RFC 6902. An absent `value` counts as null, as in the API server. */
export interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: JsonValue;
}

export type JsonPatchProblem =
  /** Not a list of operations, or a field of a wrong type. */
  | 'malformed'
  | 'too-many-operations'
  /** A path or index that does not exist, or an unknown operation. */
  | 'not-applicable'
  | 'test-failed'
  /** What the operations copy or move is beyond the limits. */
  | 'too-expensive';

const reasons = {
  malformed: 'BadRequest',
  'too-many-operations': 'RequestEntityTooLarge',
  'not-applicable': 'Invalid',
  'test-failed': 'Invalid',
  'too-expensive': 'Invalid',
} as const satisfies Record<JsonPatchProblem, StatusReason>;

/**
 * Why a JSON patch was not applied: 400 for a malformed one, 413 for too many operations, else 422 with the API server's general message.
 * `detail` names the operation and its path.
 */
export class JsonPatchError extends StatusError {
  readonly problem: JsonPatchProblem;
  readonly detail: string;

  constructor(problem: JsonPatchProblem, detail: string) {
    const reason = reasons[problem];
    const message =
      reason === 'Invalid' ? 'the server rejected our request due to an error in our request' : detail;
    super({ reason, message, ...(reason === 'Invalid' ? { details: {} } : {}) });
    this.problem = problem;
    this.detail = detail;
  }
}

export const maxJsonPatchOperations = 10_000;
/** Bytes of JSON that the `copy` operations of one patch may add together. */
export const maxJsonPatchCopyBytes = 3 * 1024 * 1024;
/** List items that the insertions and removals of one patch may shift together: bounds the time, not the result. */
const maxShiftedItems = 2 ** 26;

interface PatchRun {
  document: JsonValue;
  /** Containers made by this run, which alone may be changed in place. */
  readonly owned: Set<JsonObject | JsonValue[]>;
  copiedBytes: number;
  shiftedItems: number;
}

/** A place in the document: a container of this run and the name or index in it, not yet checked. */
interface Place {
  readonly container: JsonObject | JsonValue[];
  readonly key: string;
}

/** Checks the shape of a decoded patch body. `null` is an empty patch, as in the API server. */
export function parseJsonPatch(body: JsonValue | readonly JsonPatchOperation[]): JsonPatchOperation[] {
  if (body === null) return [];
  if (!Array.isArray(body)) {
    throw new JsonPatchError('malformed', 'error decoding patch: it must be a list of operations');
  }
  if (body.length > maxJsonPatchOperations) {
    throw new JsonPatchError(
      'too-many-operations',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${body.length}`,
    );
  }
  return body.map(parseOperation);
}

/** `null` is let through: it is an operation of unknown kind. */
function parseOperation(item: JsonValue, index: number): JsonPatchOperation {
  if (item === null) return { op: 'unknown', path: '' };
  if (!isJsonObject(item))
    throw new JsonPatchError('malformed', `error decoding patch: operation ${index} is not an object`);
  for (const field of ['op', 'path', 'from']) {
    const value = ownField(item, field);
    if (value !== undefined && value !== null && typeof value !== 'string') {
      throw new JsonPatchError(
        'malformed',
        `error decoding patch: operation ${index}: ${field} must be a string`,
      );
    }
  }
  return item as unknown as JsonPatchOperation;
}

/**
 * RFC 6902 with the habits of the API server's library: negative indices count from the end, `replace` of a missing object field adds
 * it, `copy` of a missing object field copies null, `test` takes a missing field for null. Neither input is changed; unchanged parts of
 * the document are shared with the answer. Throws {@link JsonPatchError}.
 */
export function applyJsonPatch(
  document: JsonValue,
  patch: JsonValue | readonly JsonPatchOperation[],
): JsonValue {
  const operations = parseJsonPatch(patch);
  const run: PatchRun = { document, owned: new Set(), copiedBytes: 0, shiftedItems: 0 };
  for (const operation of operations) applyOperation(run, operation);
  if (!isWithinDepth(run.document))
    throw new JsonPatchError('too-expensive', 'the result is nested too deeply');
  return run.document;
}

const steps = new Map<unknown, (run: PatchRun, operation: JsonPatchOperation) => void>([
  ['add', (run, operation) => add(run, place(run, operation, 'path'), operation.value ?? null)],
  ['remove', (run, operation) => remove(run, place(run, operation, 'path'))],
  ['replace', replace],
  ['move', move],
  ['copy', copy],
  ['test', test],
]);

function applyOperation(run: PatchRun, operation: JsonPatchOperation): void {
  const step = steps.get(operation.op);
  if (step === undefined) {
    throw new JsonPatchError('not-applicable', `Unexpected kind: ${operation.op ?? 'unknown'}`);
  }
  step(run, operation);
}

function replace(run: PatchRun, operation: JsonPatchOperation): void {
  const value = operation.value ?? null;
  if (operation.path === '') {
    if (typeof value !== 'object' || value === null) {
      throw new JsonPatchError('not-applicable', 'replace operation value must be object or array');
    }
    run.document = value;
    return;
  }
  const { container, key } = place(run, operation, 'path');
  if (Array.isArray(container)) container[existingIndex(container, key)] = value;
  else setField(container, key, value);
}

function move(run: PatchRun, operation: JsonPatchOperation): void {
  const source = place(run, operation, 'from');
  const value = read(source);
  remove(run, source);
  add(run, place(run, operation, 'path'), value ?? null);
}

function copy(run: PatchRun, operation: JsonPatchOperation): void {
  const value = read(place(run, operation, 'from')) ?? null;
  const target = place(run, operation, 'path');
  run.copiedBytes += sizeOf(value);
  if (run.copiedBytes > maxJsonPatchCopyBytes) {
    throw new JsonPatchError(
      'too-expensive',
      `Unable to complete the copy, the accumulated size increase of copy is ${run.copiedBytes}, exceeding the limit ${maxJsonPatchCopyBytes}`,
    );
  }
  add(run, target, jsonClone(value));
}

/** Bytes of JSON, about; counts no further than the limit. */
function sizeOf(value: JsonValue, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (depth > maxJsonDepth) {
    throw new JsonPatchError('too-expensive', 'the copied value is nested too deeply');
  }
  return Array.isArray(value) ? listSize(value, depth) : objectSize(value, depth);
}

function listSize(list: readonly JsonValue[], depth: number): number {
  let size = 2;
  for (const item of list) {
    size += sizeOf(item, depth + 1) + 1;
    if (size > maxJsonPatchCopyBytes) break;
  }
  return size;
}

function objectSize(object: JsonObject, depth: number): number {
  let size = 2;
  for (const key of Object.keys(object)) {
    size += sizeOf(object[key] ?? null, depth + 1) + key.length + 4;
    if (size > maxJsonPatchCopyBytes) break;
  }
  return size;
}

function test(run: PatchRun, operation: JsonPatchOperation): void {
  const actual = operation.path === '' ? run.document : read(place(run, operation, 'path'));
  if (jsonEqual(actual ?? null, operation.value ?? null)) return;
  throw new JsonPatchError('test-failed', `testing value ${operation.path} failed: test failed`);
}

function add(run: PatchRun, target: Place, value: JsonValue): void {
  const { container, key } = target;
  if (!Array.isArray(container)) {
    setField(container, key, value);
    return;
  }
  if (key === '-') {
    container.push(value);
    return;
  }
  const index = parseIndex(key);
  const position = index < 0 ? index + container.length + 1 : index;
  if (position < 0 || position > container.length) throw badIndex(index);
  countShift(run, container.length - position);
  container.splice(position, 0, value);
}

function remove(run: PatchRun, target: Place): void {
  const { container, key } = target;
  if (Array.isArray(container)) {
    const index = existingIndex(container, key);
    countShift(run, container.length - index);
    container.splice(index, 1);
  } else if (ownField(container, key) === undefined) {
    throw new JsonPatchError('not-applicable', `Unable to remove nonexistent key: ${key}: missing value`);
  } else {
    delete container[key];
  }
}

function countShift(run: PatchRun, items: number): void {
  run.shiftedItems += items;
  if (run.shiftedItems > maxShiftedItems) {
    throw new JsonPatchError('too-expensive', 'the operations shift too many list items');
  }
}

function read(source: Place): JsonValue | undefined {
  const { container, key } = source;
  return Array.isArray(container) ? container[existingIndex(container, key)] : ownField(container, key);
}

/** Finds the container a pointer leads to; makes every container on the way this run's own, so that it may be changed. */
function place(run: PatchRun, operation: JsonPatchOperation, field: 'path' | 'from'): Place {
  const pointer = operation[field];
  if (typeof pointer !== 'string') {
    throw new JsonPatchError(
      'not-applicable',
      `${operation.op} operation, missing ${field} field: missing value`,
    );
  }
  // What stands before the first slash is not looked at, as in the API server's library.
  const tokens = pointer.split('/').slice(1).map(unescapeToken);
  const key = tokens.pop();
  let container = writable(run, run.document);
  run.document = container ?? run.document;
  for (const token of tokens) container = container && descend(run, container, token);
  if (container === undefined || key === undefined) {
    const message = `${operation.op} operation does not apply: doc is missing path: ${JSON.stringify(pointer)}: missing value`;
    throw new JsonPatchError('not-applicable', message);
  }
  return { container, key };
}

function descend(
  run: PatchRun,
  parent: JsonObject | JsonValue[],
  token: string,
): JsonObject | JsonValue[] | undefined {
  if (Array.isArray(parent)) {
    const index = resolveIndex(parent, token);
    const child = index === undefined ? undefined : writable(run, parent[index]);
    if (child !== undefined && index !== undefined) parent[index] = child;
    return child;
  }
  const child = writable(run, ownField(parent, token));
  if (child !== undefined) setField(parent, token, child);
  return child;
}

function writable(run: PatchRun, value: JsonValue | undefined): JsonObject | JsonValue[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (run.owned.has(value)) return value;
  const own = Array.isArray(value) ? value.slice() : shallowCopy(value);
  run.owned.add(own);
  return own;
}

function unescapeToken(token: string): string {
  return token.includes('~') ? token.replace(/~[01]/g, (escape) => (escape === '~1' ? '/' : '~')) : token;
}

function parseIndex(key: string): number {
  if (!/^[+-]?[0-9]{1,15}$/.test(key)) {
    throw new JsonPatchError('not-applicable', `value was not a proper array index: '${key}'`);
  }
  return Number(key);
}

function resolveIndex(list: readonly JsonValue[], key: string): number | undefined {
  if (!/^[+-]?[0-9]{1,15}$/.test(key)) return undefined;
  const index = Number(key);
  const position = index < 0 ? index + list.length : index;
  return position >= 0 && position < list.length ? position : undefined;
}

function existingIndex(list: readonly JsonValue[], key: string): number {
  const index = parseIndex(key);
  const position = resolveIndex(list, key);
  if (position === undefined) throw badIndex(index);
  return position;
}

function badIndex(index: number): JsonPatchError {
  return new JsonPatchError(
    'not-applicable',
    `Unable to access invalid index: ${index}: invalid index referenced`,
  );
}
