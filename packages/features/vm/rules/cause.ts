import type { FieldErrorType } from '@sheaf/api';
import type { StatusCause } from '@sheaf/base';

/** What is wrong at a field: KubeVirt's words, then what to do. */
export function cause(
  field: string,
  text: string,
  { wayOut, reason = 'FieldValueInvalid' }: { readonly wayOut: string; readonly reason?: FieldErrorType },
): StatusCause {
  return { reason, field, message: `${text}; ${wayOut}` };
}

/** The causes of all items of a list; the check is given the path of each. */
export function each<T>(
  items: readonly T[] | undefined,
  field: string,
  check: (item: T, field: string, index: number) => readonly StatusCause[],
): readonly StatusCause[] {
  return (items ?? []).flatMap((item, index) => check(item, `${field}[${index}]`, index));
}

/** One cause for each item whose name an earlier one has. */
export function duplicateNames(
  items: readonly { readonly name: string }[] | undefined,
  field: string,
): readonly StatusCause[] {
  return each(items, field, ({ name }, place, index) => {
    const first = (items ?? []).findIndex((item) => item.name === name);
    if (first === index) return [];
    const text = `${place} and ${field}[${first}] must not have the same Name.`;
    return [cause(`${place}.name`, text, { wayOut: 'rename one of them' })];
  });
}

export function listed(values: readonly string[]): string {
  return `[${values.join(' ')}]`;
}
