import type { CelType, TypeKind } from '../checker/type.ts';
import {
  Duration,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values/value.ts';

export type Matcher = (value: Value) => boolean;

const anything: Matcher = () => true;

const byKind: Readonly<Record<TypeKind, Matcher>> = {
  dyn: anything,
  error: anything,
  param: anything,
  null: (value) => value === null,
  bool: (value) => typeof value === 'boolean',
  int: (value) => typeof value === 'bigint',
  uint: (value) => value instanceof Uint,
  double: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  bytes: (value) => value instanceof Uint8Array,
  timestamp: (value) => value instanceof Timestamp,
  duration: (value) => value instanceof Duration,
  type: (value) => value instanceof TypeValue,
  list: (value) => value instanceof ListValue,
  map: (value) => value instanceof MapValue,
  object: (value) => value instanceof MapValue || value instanceof StructValue,
  opaque: anything,
};

/** Whether a run-time value belongs to a type; elements of lists are compared by their first. */
export function matcher(type: CelType): Matcher {
  if (type.kind === 'opaque') {
    const { name } = type;
    if (name === 'optional_type') return (value) => value instanceof Optional;
    return (value) => value instanceof Opaque && value.type === name;
  }
  if (type.kind === 'list') return listMatcher(type.params[0]);
  return byKind[type.kind];
}

function listMatcher(element: CelType | undefined): Matcher {
  const isElement = element ? matcher(element) : anything;
  if (isElement === anything) return byKind.list;
  return (value) => value instanceof ListValue && (value.size === 0 || isElement(value.get(0)));
}
