import type { ListSchema, ScalarSchema, TypeSchema } from '@sheaf/api';
import { isWithinDepth, type JsonValue } from '@sheaf/base';
import { printElement } from './field-path.ts';
import {
  asList,
  asMap,
  fieldSchema,
  isDeclared,
  itemElement,
  itemProblem,
  itemSchema,
  shapeOf,
} from './type-shape.ts';

/** One thing wrong with an applied configuration. */
export interface TypeProblem {
  /** e.g. `.spec.ports[port=80]`; empty for the whole object. */
  readonly path: string;
  readonly message: string;
  readonly isDuplicate: boolean;
}

/** Checks a configuration against its schema: unknown fields, wrong types, items without or with repeated keys. */
export function findTypeProblems(value: JsonValue, schema: TypeSchema): TypeProblem[] {
  if (!isWithinDepth(value)) return [problem('', 'exceeded max depth')];
  const problems: TypeProblem[] = [];
  checkNode({ problems, path: '' }, value, schema);
  return problems;
}

interface Place {
  readonly problems: TypeProblem[];
  readonly path: string;
}

function problem(path: string, message: string, isDuplicate = false): TypeProblem {
  return { path, message, isDuplicate };
}

function below(place: Place, element: string): Place {
  return { problems: place.problems, path: place.path + element };
}

function checkNode(place: Place, value: JsonValue, schema: TypeSchema): void {
  if (value === null || schema.type === 'any') return;
  if (schema.type === 'scalar') checkScalar(place, value, schema);
  else if (shapeOf(schema, value) === 'map') checkMap(place, value, schema);
  else checkList(place, value, schema);
}

function checkMap(place: Place, value: JsonValue, schema: TypeSchema): void {
  const map = asMap(value);
  if (map === undefined) {
    place.problems.push(problem(place.path, `expected map, got ${describe(value)}`));
    return;
  }
  for (const key in map) {
    const child = map[key];
    if (child === undefined) continue;
    const field = below(place, `.${key}`);
    if (isDeclared(schema, key)) checkNode(field, child, fieldSchema(schema, key));
    else place.problems.push(problem(field.path, 'field not declared in schema'));
  }
}

function checkList(place: Place, value: JsonValue, schema: TypeSchema): void {
  const list = asList(value);
  if (list === undefined) {
    place.problems.push(problem(place.path, `expected list, got ${describe(value)}`));
  } else if (schema.type === 'list' && schema.listType !== 'atomic') {
    checkKeyedList(place, list, schema);
  } else {
    for (const [index, item] of list.entries())
      checkNode(below(place, `[${index}]`), item, itemSchema(schema));
  }
}

function checkKeyedList(place: Place, list: readonly JsonValue[], schema: ListSchema): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const element = itemElement(schema, item);
    if (element === undefined) {
      place.problems.push(problem(place.path, `element ${index}: ${itemProblem(schema, item)}`));
      return;
    }
    const printed = printElement(element);
    if (seen.has(element)) {
      place.problems.push(problem(place.path, `duplicate entries for key ${printed}`, true));
    }
    seen.add(element);
    checkNode(below(place, printed), item, schema.items);
  }
}

function checkScalar(place: Place, value: JsonValue, schema: ScalarSchema): void {
  const expected = scalarProblem(value, schema);
  if (expected !== undefined) place.problems.push(problem(place.path, expected));
}

function scalarProblem(value: JsonValue, schema: ScalarSchema): string | undefined {
  switch (schema.format) {
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case 'boolean':
    case 'string':
      return typeof value === schema.format ? undefined : `expected ${schema.format}, got ${describe(value)}`;
    case 'bytes':
      return typeof value === 'string' ? undefined : `expected string, got ${describe(value)}`;
    default:
      return typeof value === 'object' ? `expected any scalar, got ${describe(value)}` : undefined;
  }
}

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function describe(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
