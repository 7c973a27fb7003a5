import { badRequest, isJsonObject, type JsonValue, StatusError } from '@sheaf/base';

export const wrongPrimitiveList = 'invalid patch format of primitive list';
export const wrongRetainKeys = 'invalid patch format of retainKeys';
export const wrongElementOrder = 'invalid patch format of setElementOrder list';

/** A patch that is not well-formed: 400. */
export function badPatch(message: string): StatusError {
  return badRequest(message);
}

/** Lists of lists have no meaning in a strategic merge: 422 with the API server's general message. */
export function listOfLists(): StatusError {
  return new StatusError({
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
    cause: new Error('lists of lists are not supported'),
  });
}

export function missingMergeKey(item: JsonValue, mergeKey: string): StatusError {
  return badPatch(`map: ${printValue(item)} does not contain declared merge key: ${mergeKey}`);
}

export function wrongType(expected: 'map' | 'list', actual: JsonValue | undefined): StatusError {
  return badPatch(`expected a ${typeNames[expected]}, but received a ${typeName(actual)}`);
}

const typeNames = { map: 'map[string]interface {}', list: '[]interface {}' } as const;

export function typeName(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return typeNames.list;
  if (isJsonObject(value)) return typeNames.map;
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return '%!s(<nil>)';
}

const maxPrinted = 1000;

/** A value as the API server prints it in messages: `map[name:a]`. Cut when long. */
export function printValue(value: JsonValue | undefined): string {
  const text = print(value);
  return text.length > maxPrinted ? `${text.slice(0, maxPrinted)}...` : text;
}

function print(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(print).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const fields = Object.keys(value).sort();
  return `map[${fields.map((name) => `${name}:${print(value[name])}`).join(' ')}]`;
}
