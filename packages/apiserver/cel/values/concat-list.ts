import { ListValue, type Value } from './value.ts';

/** Two lists in a row; nothing is copied. */
export class ConcatList extends ListValue {
  readonly #first: ListValue;
  readonly #second: ListValue;
  readonly size: number;

  constructor(first: ListValue, second: ListValue) {
    super();
    this.#first = first;
    this.#second = second;
    this.size = first.size + second.size;
  }

  get(index: number): Value {
    const split = this.#first.size;
    return index < split ? this.#first.get(index) : this.#second.get(index - split);
  }
}

/** A list whose kind decides what `+` means (set and map lists). */
export interface AddableList extends ListValue {
  addList(other: ListValue): ListValue;
}

/** `first + second`. */
export function concatenate(first: ListValue, second: ListValue): ListValue {
  if ('addList' in first) return (first as AddableList).addList(second);
  if (first.size === 0) return second;
  return second.size === 0 ? first : new ConcatList(first, second);
}
