import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
  typeOf,
  typeParam,
  uintType,
} from '../checker/type.ts';
import { countingCost, regexCost, traversal } from '../values/cost.ts';
import { failure } from '../values/failure.ts';
import { formatDouble, int64, parseDouble, parseInt64, parseUint64, uint64 } from '../values/number.ts';
import { codePointLength, utf8 } from '../values/text.ts';
import {
  floorDivide,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  timestampOf,
} from '../values/time.ts';
import { type Timestamp, TypeValue, typeName, type Uint, type Value } from '../values/value.ts';
import { method, type Overload, plain } from './overload.ts';
import { matchesPattern } from './pattern.ts';

const paramA = typeParam('A');
const paramB = typeParam('B');
const second = 1_000_000_000n;

function required<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw failure(message);
  return value;
}

/** A conversion that changes nothing. */
function identity(type: CelType): Overload {
  return plain({ params: [type], result: type, call: (value) => value });
}

/** `size(x)` and `x.size()`. */
function sizes(type: CelType<string>): Overload[] {
  const definition = {
    params: [type],
    result: intType,
    call: (text: string) => BigInt(codePointLength(text)),
    cost: countingCost,
  } as const;
  return [plain(definition), method(definition)];
}

function collectionSizes(): Overload[] {
  const list = {
    params: [listOf(paramA)],
    result: intType,
    call: (value: { size: number }) => BigInt(value.size),
  } as const;
  const map = {
    params: [mapOf(paramA, paramB)],
    result: intType,
    call: (value: { size: number }) => BigInt(value.size),
  } as const;
  const bytes = {
    params: [bytesType],
    result: intType,
    call: (value: Uint8Array) => BigInt(value.length),
  } as const;
  return [plain(bytes), method(bytes), plain(list), method(list), plain(map), method(map)];
}

const trueTexts = new Set(['1', 't', 'true', 'TRUE', 'True']);
const falseTexts = new Set(['0', 'f', 'false', 'FALSE', 'False']);

function textToBool(text: string): boolean {
  if (trueTexts.has(text)) return true;
  if (falseTexts.has(text)) return false;
  throw failure(`type conversion error from 'string' to 'bool'`);
}

function doubleToInt(value: number): bigint {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) throw failure('integer overflow');
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): Uint {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) throw failure('unsigned integer overflow');
  return uint64(BigInt(Math.trunc(value)));
}

function bytesToText(value: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch (cause) {
    throw Object.assign(failure('invalid UTF-8 in bytes, cannot convert to string'), { cause });
  }
}

function intToTimestamp(seconds: bigint): Timestamp {
  return required(timestampOf(seconds * second), 'timestamp overflow');
}

function conversion(from: string, to: string): string {
  return `type conversion error from '${from}' to '${to}'`;
}

/** The functions of the CEL specification, besides operators and the accessors of times. */
export const standardLibrary: Readonly<Record<string, readonly Overload[]>> = {
  size: [...sizes(stringType), ...collectionSizes()],
  type: [
    plain({ params: [paramA], result: typeOf(paramA), call: (value) => new TypeValue(typeName(value)) }),
  ],
  dyn: [plain({ params: [paramA], result: dynType, call: (value) => value })],
  bool: [identity(boolType), plain({ params: [stringType], result: boolType, call: textToBool })],
  bytes: [
    identity(bytesType),
    plain({ params: [stringType], result: bytesType, call: utf8, cost: (text) => traversal(text) }),
  ],
  double: [
    identity(doubleType),
    plain({ params: [intType], result: doubleType, call: (value) => Number(value) }),
    plain({
      params: [stringType],
      result: doubleType,
      call: (text) => required(parseDouble(text), conversion('string', 'double')),
    }),
    plain({ params: [uintType], result: doubleType, call: (value) => Number(value.value) }),
  ],
  duration: [
    identity(durationType),
    plain({
      params: [stringType],
      result: durationType,
      call: (text) => required(parseDuration(text), conversion('string', 'google.protobuf.Duration')),
    }),
  ],
  int: [
    identity(intType),
    plain({ params: [doubleType], result: intType, call: doubleToInt }),
    plain({ params: [durationType], result: intType, call: (value) => value.nanos }),
    plain({
      params: [stringType],
      result: intType,
      call: (text) => required(parseInt64(text), conversion('string', 'int')),
    }),
    plain({ params: [timestampType], result: intType, call: (value) => floorDivide(value.nanos, second) }),
    plain({ params: [uintType], result: intType, call: (value) => int64(value.value) }),
  ],
  string: [
    identity(stringType),
    plain({ params: [boolType], result: stringType, call: (value) => String(value) }),
    plain({ params: [bytesType], result: stringType, call: bytesToText, cost: (value) => traversal(value) }),
    plain({ params: [doubleType], result: stringType, call: formatDouble }),
    plain({ params: [durationType], result: stringType, call: formatDuration }),
    plain({ params: [intType], result: stringType, call: (value) => value.toString() }),
    plain({ params: [timestampType], result: stringType, call: formatTimestamp }),
    plain({ params: [uintType], result: stringType, call: (value) => value.value.toString() }),
  ],
  timestamp: [
    identity(timestampType),
    plain({ params: [intType], result: timestampType, call: intToTimestamp }),
    plain({
      params: [stringType],
      result: timestampType,
      call: (text) => required(parseTimestamp(text), conversion('string', 'google.protobuf.Timestamp')),
    }),
  ],
  uint: [
    identity(uintType),
    plain({ params: [doubleType], result: uintType, call: doubleToUint }),
    plain({ params: [intType], result: uintType, call: (value) => uint64(value) }),
    plain({
      params: [stringType],
      result: uintType,
      call: (text) => uint64(required(parseUint64(text), conversion('string', 'uint'))),
    }),
  ],
  contains: [
    textTest(
      (text, part) => text.includes(part),
      (text, part) => traversal(text) * traversal(part),
    ),
  ],
  startsWith: [
    textTest(
      (text, part) => text.startsWith(part),
      (text) => traversal(text),
    ),
  ],
  endsWith: [
    textTest(
      (text, part) => text.endsWith(part),
      (text) => traversal(text),
    ),
  ],
  matches: [
    textTest(matchesPattern, regexCost),
    plain({ params: [stringType, stringType], result: boolType, call: matchesPattern, cost: regexCost }),
  ],
};

function textTest(
  call: (text: string, part: string) => Value,
  cost: (text: string, part: string) => number,
): Overload {
  return method({
    params: [stringType, stringType],
    result: boolType,
    call: (text, part) => call(text, part),
    cost,
  });
}
