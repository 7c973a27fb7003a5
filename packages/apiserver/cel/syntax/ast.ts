import type { Value } from '../values/value.ts';

interface Node {
  /** Unique within its expression, counting from 0. */
  readonly id: number;
  /** Where an error about this node points to: UTF-16 offset into the source. */
  readonly offset: number;
}

export interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface Identifier extends Node {
  readonly kind: 'identifier';
  readonly name: string;
}

/** `operand.field`, `has(operand.field)` or `operand.?field`. */
export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  readonly mode: 'value' | 'test' | 'optional';
}

/** A function, method or operator (`_+_`, `_[_]`, `_?_:_` …). */
export interface Call extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

/** A chain of the same logical operator, kept flat so that long chains are not deep. */
export interface Logic extends Node {
  readonly kind: 'logic';
  readonly operator: '&&' | '||';
  readonly terms: readonly Expression[];
}

export interface ListElement {
  readonly value: Expression;
  readonly isOptional: boolean;
}

export interface ListLiteral extends Node {
  readonly kind: 'list';
  readonly elements: readonly ListElement[];
}

export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
  readonly isOptional: boolean;
}

export interface MapLiteral extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}

export interface StructField {
  readonly name: string;
  readonly offset: number;
  readonly value: Expression;
  readonly isOptional: boolean;
}

/** `Type.Name{field: value}`. */
export interface StructLiteral extends Node {
  readonly kind: 'struct';
  readonly type: string;
  readonly fields: readonly StructField[];
}

export type ComprehensionMacro =
  | 'all'
  | 'exists'
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy';

/** A macro over the elements of `range`. One variable: element or key. Two: index and element, or key and value. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension';
  readonly macro: ComprehensionMacro;
  readonly range: Expression;
  readonly variables: readonly string[];
  /** The condition; for `map` and the transforms optional. */
  readonly predicate: Expression | undefined;
  /** What each element becomes. */
  readonly transform: Expression | undefined;
}

/** `target.optMap(variable, body)` or `optFlatMap`. */
export interface OptionalMap extends Node {
  readonly kind: 'optionalMap';
  readonly isFlat: boolean;
  readonly target: Expression;
  readonly variable: string;
  readonly body: Expression;
}

export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | Logic
  | ListLiteral
  | MapLiteral
  | StructLiteral
  | Comprehension
  | OptionalMap;
