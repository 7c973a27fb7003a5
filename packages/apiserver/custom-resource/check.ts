import { type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { findFormat } from './formats.ts';
import { isInteger } from './go-text.ts';
import { numberRules } from './numbers.ts';
import { compilePattern } from './pattern.ts';
import type { SchemaNode } from './schema-node.ts';
import { enforcedFormat, findTypeFault } from './value-types.ts';

/** True when a value obeys a schema. Allocates nothing; what is wrong is found out by `explain`. */
export type Check = (value: JsonValue | undefined) => boolean;

type Test<T> = (value: T) => boolean;

function accept(): boolean {
  return true;
}

function refuse(): boolean {
  return false;
}

/** Compiles a schema to a check. */
export function compileCheck(node: SchemaNode): Check {
  const anyKind = compileAnyKind(node);
  const onString = guard(typeIs(node, ''), () => both(compileString(node), anyKind));
  const onInteger = guard(typeIs(node, 1), () => both(compileNumber(node), anyKind));
  const onFraction = guard(typeIs(node, 1.5), () => both(compileNumber(node), anyKind));
  const onBoolean = guard(typeIs(node, true), () => anyKind);
  const onArray = guard(typeIs(node, []), () => both(compileArray(node), anyKind));
  const onObject = guard(typeIs(node, {}), () => both(compileObject(node), anyKind));
  const isNullFine = typeIs(node, null) && node.enumValues === undefined;
  return (value) => {
    switch (typeof value) {
      case 'string':
        return onString(value);
      case 'number':
        return isInteger(value) ? onInteger(value) : onFraction(value);
      case 'boolean':
        return onBoolean(value);
      default:
        if (value === null || value === undefined) return isNullFine;
        return Array.isArray(value) ? onArray(value) : onObject(value);
    }
  };
}

function typeIs(node: SchemaNode, sample: JsonValue): boolean {
  return findTypeFault(node, sample) === undefined;
}

function guard<T>(isAllowed: boolean, compile: () => Test<T>): Test<T> {
  return isAllowed ? compile() : refuse;
}

function both<T>(first: Test<T>, second: Test<T>): Test<T> {
  if (first === accept) return second;
  if (second === accept) return first;
  return (value) => first(value) && second(value);
}

function all<T>(tests: readonly Test<T>[]): Test<T> {
  return tests.reduce(both<T>, accept);
}

/** Keywords that apply whatever the value's kind: enum, allOf, anyOf, oneOf, not. */
function compileAnyKind(node: SchemaNode): Check {
  return all([compileEnum(node), ...compileJunctors(node)]);
}

function compileEnum(node: SchemaNode): Check {
  const values = node.enumValues;
  if (values === undefined || values.length === 0) return accept;
  if (values.every((value) => typeof value !== 'object')) {
    const known = new Set<JsonValue | undefined>(values);
    return (value) => known.has(value);
  }
  return (value) => value !== null && values.some((allowed) => jsonEqual(allowed, value));
}

function compileJunctors(node: SchemaNode): readonly Check[] {
  const tests: Check[] = node.allOf.map(compileCheck);
  if (node.anyOf.length > 0) {
    const branches = node.anyOf.map(compileCheck);
    tests.push((value) => branches.some((branch) => branch(value)));
  }
  if (node.oneOf.length > 0) tests.push(exactlyOne(node.oneOf.map(compileCheck)));
  if (node.not !== undefined) {
    const forbidden = compileCheck(node.not);
    tests.push((value) => !forbidden(value));
  }
  return tests;
}

function exactlyOne(branches: readonly Check[]): Check {
  return (value) => {
    let count = 0;
    for (const branch of branches) if (branch(value)) count++;
    return count === 1;
  };
}

function compileString(node: SchemaNode): Test<string> {
  const tests: Test<string>[] = [];
  const { maxLength, minLength } = node;
  if (maxLength !== undefined) tests.push((text) => !isLongerThan(text, maxLength));
  if (minLength !== undefined && minLength > 0) tests.push((text) => isLongerThan(text, minLength - 1));
  if (node.pattern !== '') tests.push(compilePatternOrRefuse(node.pattern));
  const format = enforcedFormat(node);
  const formatTest = format === '' ? undefined : findFormat(format);
  if (formatTest) tests.push(formatTest);
  return all(tests);
}

function compilePatternOrRefuse(pattern: string): Test<string> {
  try {
    return compilePattern(pattern);
  } catch {
    return refuse;
  }
}

/** Whether a text has more than `length` code points. */
export function isLongerThan(text: string, length: number): boolean {
  if (text.length <= length) return false;
  return text.length > 2 * length || countCodePoints(text) > length;
}

export function countCodePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const code = text.charCodeAt(i);
    if (code < 0xd800 || code > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next >= 0xdc00 && next <= 0xdfff) count--;
  }
  return count;
}

function compileNumber(node: SchemaNode): Test<number> {
  const rules = numberRules(node);
  const tests = rules.map(
    (rule): Test<number> =>
      (value) =>
        rule(value) === undefined,
  );
  return all(tests);
}

function compileArray(node: SchemaNode): Test<JsonValue[]> {
  const tests: Test<JsonValue[]>[] = [];
  const { minItems, maxItems } = node;
  if (minItems !== undefined) tests.push((list) => list.length >= minItems);
  if (maxItems !== undefined) tests.push((list) => list.length <= maxItems);
  if (node.items !== undefined) tests.push(everyItem(compileCheck(node.items)));
  if (node.uniqueItems) tests.push((list) => findDuplicate(list) < 0);
  return all(tests);
}

function everyItem(check: Check): Test<JsonValue[]> {
  return (list) => {
    for (const item of list) if (!check(item)) return false;
    return true;
  };
}

/** The index of the first item that equals an earlier one, or -1. */
export function findDuplicate(list: readonly JsonValue[]): number {
  const seen = new Set<string>();
  for (let i = 0; i < list.length; i++) {
    const key = JSON.stringify(list[i]);
    if (seen.has(key)) return i;
    seen.add(key);
  }
  return -1;
}

function compileObject(node: SchemaNode): Test<JsonObject> {
  const tests: Test<JsonObject>[] = [];
  const { minProperties, maxProperties, required } = node;
  if (minProperties !== undefined) tests.push((object) => countFields(object) >= minProperties);
  if (maxProperties !== undefined) tests.push((object) => countFields(object) <= maxProperties);
  if (required.length > 0) tests.push(compileRequired(required));
  tests.push(compileFields(node));
  return all(tests);
}

export function countFields(object: JsonObject): number {
  let count = 0;
  for (const _ in object) count++;
  return count;
}

function compileRequired(required: readonly string[]): Test<JsonObject> {
  const isPlain = required.every((name) => !(name in Object.prototype));
  if (!isPlain) return (object) => required.every((name) => Object.hasOwn(object, name));
  return (object) => {
    for (const name of required) if (object[name] === undefined) return false;
    return true;
  };
}

function compileFields(node: SchemaNode): Test<JsonObject> {
  const { properties, additionalProperties } = node;
  const named = new Map([...properties].map(([name, property]) => [name, compileCheck(property)]));
  const others = additionalProperties?.schema ? compileCheck(additionalProperties.schema) : undefined;
  const fallback = others ?? (additionalProperties?.allows === false ? refuse : undefined);
  if (named.size === 0 && fallback === undefined) return accept;
  return (object) => {
    for (const key in object) {
      const check = named.get(key) ?? fallback;
      if (check !== undefined && !check(object[key])) return false;
    }
    return true;
  };
}
