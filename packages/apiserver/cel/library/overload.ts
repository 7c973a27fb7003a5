import type { CelType } from '../checker/type.ts';
import type { Meter } from '../values/equality.ts';
import type { Value } from '../values/value.ts';

/** The run-time values of a list of parameter types. */
export type ValuesOf<P extends readonly CelType[]> = {
  readonly [K in keyof P]: P[K] extends CelType<infer V> ? V : never;
};

/** What the type checker knows of a function or operator. */
export interface Signature {
  /** For a method the first parameter is the receiver. */
  readonly isMember: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
}

/** One signature of a function with what it does. */
export interface Overload extends Signature {
  call(args: readonly Value[], meter: Meter): Value;
  /** Cost units of a call, known before it is made. One if absent. */
  readonly cost?: (args: readonly Value[]) => number;
}

/** All the functions an expression may call, by name. */
export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

export interface Definition<P extends readonly CelType[]> {
  readonly params: P;
  readonly result: CelType;
  /** The arguments of a call; the meter comes last, for functions that compare many values. */
  readonly call: (...args: readonly [...ValuesOf<P>, Meter]) => Value;
  readonly cost?: (...args: ValuesOf<P>) => number;
}

/** A function: `name(a, b)`. */
export function plain<const P extends readonly CelType[]>(definition: Definition<P>): Overload {
  return build(definition, false);
}

/** A method: `receiver.name(b)`. */
export function method<const P extends readonly CelType[]>(definition: Definition<P>): Overload {
  return build(definition, true);
}

function build<P extends readonly CelType[]>(definition: Definition<P>, isMember: boolean): Overload {
  const { params, result, call, cost } = definition;
  // The evaluator has checked the arguments against `params` before it calls.
  const invoke = call as unknown as (...args: readonly (Value | Meter)[]) => Value;
  const run = (args: readonly Value[], meter: Meter): Value => invoke(...args, meter);
  const base = { isMember, params, result, call: run };
  if (!cost) return base;
  const charge = cost as unknown as (...args: readonly Value[]) => number;
  return { ...base, cost: (args: readonly Value[]) => charge(...args) };
}

/** Joins libraries; overloads of the same name add up. */
export function functionTable(
  ...libraries: readonly Readonly<Record<string, readonly Overload[]>>[]
): FunctionTable {
  const table = new Map<string, Overload[]>();
  for (const library of libraries)
    for (const [name, overloads] of Object.entries(library))
      table.set(name, [...(table.get(name) ?? []), ...overloads]);
  return table;
}
