import type { Compilation } from '../expression.ts';
import { formatDouble } from '../values/number.ts';
import { formatDuration, formatTimestamp } from '../values/time.ts';
import {
  Duration,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values/value.ts';

/** What an expression gives, as the tests write it. */
export function describeOutcome({ compiled, error }: Compilation, variables: readonly Value[]): string {
  if (!compiled) return `wrong: ${error.split('\n')[0]?.replace(/^ERROR: <input>:/, '')}`;
  const outcome = compiled.run(variables);
  return outcome.ok ? describeValue(outcome.value) : `fails: ${outcome.message}`;
}

/** A value as the tests write it: `d1.5` is a double, `1u` an unsigned integer, `b6869` the bytes of "hi". */
export function describeValue(value: Value): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return `d${formatDouble(value)}`;
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? 'null' : describeObject(value);
  }
}

type ObjectValue = Exclude<Value, null | string | number | bigint | boolean>;

function describeObject(value: ObjectValue): string {
  if (value instanceof ListValue) return `[${elementsOf(value).map(describeValue).join(',')}]`;
  if (value instanceof MapValue) return `{${entriesOf(value).sort().join(',')}}`;
  if (value instanceof Optional)
    return value.value === undefined ? 'none' : `opt(${describeValue(value.value)})`;
  if (value instanceof Opaque) return `<${value.type}>`;
  return describeSimple(value);
}

function describeSimple(value: ObjectValue): string {
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  if (value instanceof Timestamp) return `ts(${formatTimestamp(value)})`;
  if (value instanceof Duration) return `dur(${formatDuration(value)})`;
  return `type(${value instanceof TypeValue ? value.name : ''})`;
}

function elementsOf(list: ListValue): Value[] {
  return Array.from({ length: list.size }, (_, index) => list.get(index));
}

function entriesOf(map: MapValue): string[] {
  return map.keys().map((key) => `${describeValue(key)}:${describeValue(map.find(key) ?? null)}`);
}
