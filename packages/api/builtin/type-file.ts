/**
 * The form of `generated/types/*.json`: struct names to rows. A row is `['' | 'atomic', ...fields]`, a field
 * `[json name, Go name, protobuf number or 0, type, flags, extras?]`. Flags: `e` omitempty, `z` omitzero, `i` embedded.
 * A type is an expression: `*` pointer, `[]` list, `[w]` list with a message of its own, `{Key}` map, `(Name)` a
 * named Go type, `#package.Struct`, else a scalar or special type.
 */
export type TypeFile = Readonly<Record<string, readonly [string, ...FieldRow[]]>>;

export type FieldRow = readonly [
  json: string,
  go: string,
  number: number,
  type: string,
  flags: string,
  extras?: FieldExtras,
];

export interface FieldExtras {
  readonly strategy?: string;
  readonly mergeKey?: string;
  readonly list?: 'set' | 'map';
  readonly keys?: readonly (readonly [string, (string | number | boolean)?])[];
  readonly atomic?: boolean;
}
