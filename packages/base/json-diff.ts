import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from './json.ts';
import { ownField } from './json-fields.ts';
import type { JsonPatchOperation } from './json-patch.ts';

/**
 * Operations that turn `from` into `to`. Lists are compared from both ends, so one insertion or removal is one operation; what remains
 * between is replaced item by item.
 */
export function createJsonPatch(from: JsonValue, to: JsonValue): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  diffValue(operations, '', { from, to });
  return operations;
}

interface Change<T> {
  readonly from: T;
  readonly to: T;
}

function diffValue(operations: JsonPatchOperation[], path: string, change: Change<JsonValue>): void {
  const { from, to } = change;
  if (jsonEqual(from, to)) return;
  if (isJsonObject(from) && isJsonObject(to)) diffObject(operations, path, { from, to });
  else if (Array.isArray(from) && Array.isArray(to)) diffList(operations, path, { from, to });
  else operations.push({ op: 'replace', path, value: to });
}

function diffObject(operations: JsonPatchOperation[], path: string, change: Change<JsonObject>): void {
  const { from, to } = change;
  for (const key of Object.keys(from)) {
    if (from[key] !== undefined && ownField(to, key) === undefined) {
      operations.push({ op: 'remove', path: `${path}/${escapeToken(key)}` });
    }
  }
  for (const key of Object.keys(to)) {
    const value = to[key];
    if (value === undefined) continue;
    const child = `${path}/${escapeToken(key)}`;
    const old = ownField(from, key);
    if (old === undefined) operations.push({ op: 'add', path: child, value });
    else diffValue(operations, child, { from: old, to: value });
  }
}

function diffList(operations: JsonPatchOperation[], path: string, change: Change<JsonValue[]>): void {
  const { from, to } = change;
  const { head, tail } = equalEnds(change);
  const next = Math.min(from.length, to.length) - tail;
  for (let index = head; index < next; index++) {
    diffValue(operations, `${path}/${index}`, { from: from[index] ?? null, to: to[index] ?? null });
  }
  for (let count = from.length - tail; count > next; count--) {
    operations.push({ op: 'remove', path: `${path}/${next}` });
  }
  for (let index = next; index < to.length - tail; index++) {
    operations.push({ op: 'add', path: `${path}/${index}`, value: to[index] ?? null });
  }
}

/** How many items the lists share at their beginning and at their end; the two do not overlap in the shorter list. */
function equalEnds({ from, to }: Change<JsonValue[]>): { head: number; tail: number } {
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && jsonEqual(from[head], to[head])) head++;
  let tail = 0;
  while (tail < shorter - head && jsonEqual(from.at(-1 - tail), to.at(-1 - tail))) tail++;
  return { head, tail };
}

function escapeToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
