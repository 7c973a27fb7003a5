import { isJsonObject, type JsonValue } from '@sheaf/base';

/** What happens to a field of a spec. Lists are looked through: the coverage is that of their items. */
export type Coverage =
  /** It is translated; what is below it as well. */
  | 'used'
  /** It has done its work elsewhere, or asks for what is so anyway. */
  | 'settled'
  | Refusal
  | { readonly [field: string]: Coverage };

/** It cannot be had, and a machine without it would not be what was asked for. */
export interface Refusal {
  readonly refusedBecause: string;
  readonly wayOut: string;
}

export interface CoverageFindings {
  readonly refused: readonly { readonly field: string; readonly reason: string; readonly wayOut: string }[];
  /** Paths of fields that have no effect. */
  readonly withoutEffect: readonly string[];
}

/** Compares a value with what is known of its fields. What is not known has no effect and is named: nothing is passed over. */
export function findUncovered(value: unknown, coverage: Coverage, path: string): CoverageFindings {
  const refused: { field: string; reason: string; wayOut: string }[] = [];
  const withoutEffect: string[] = [];
  walk(value as JsonValue | undefined, coverage, path);
  return { refused, withoutEffect };

  function walk(current: JsonValue | undefined, known: Coverage, field: string): void {
    if (isEmpty(current) || known === 'used' || known === 'settled') return;
    if (isRefusal(known)) {
      refused.push({ field, reason: known.refusedBecause, wayOut: known.wayOut });
    } else if (Array.isArray(current)) {
      for (const [index, item] of current.entries()) walk(item, known, `${field}[${index}]`);
    } else if (isJsonObject(current)) {
      for (const [name, child] of Object.entries(current)) walkField(child, known, { field, name });
    }
  }

  function walkField(
    child: JsonValue | undefined,
    known: { readonly [field: string]: Coverage },
    { field, name }: { readonly field: string; readonly name: string },
  ): void {
    const next = Object.hasOwn(known, name) ? known[name] : undefined;
    const below = `${field}.${name}`;
    if (next !== undefined) walk(child, next, below);
    else if (!isEmpty(child)) withoutEffect.push(below);
  }
}

function isRefusal(coverage: Coverage): coverage is Refusal {
  return typeof coverage === 'object' && 'refusedBecause' in coverage;
}

/** Absent, or what stands for it: clients write `false`, `[]` and `""` for fields that they do not use. */
function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  return Array.isArray(value) && value.length === 0;
}
