import { type FieldError, forbiddenField } from '@sheaf/api';
import { maxRequest } from '../schema/sizes.ts';

/** Units one rule may cost by estimate. */
const expressionLimit = 10_000_000;
/** Units all rules of a schema may cost by estimate. */
const schemaLimit = 100_000_000;
const shownExpressions = 4;

interface Entry {
  readonly path: string;
  readonly name: 'rule' | 'messageExpression';
  /** Of one evaluation. */
  readonly cost: number;
  /** How often it can be evaluated for one object; `undefined` if only the size of a request bounds it. */
  readonly cardinality: number | undefined;
  readonly minSize: number;
}

/** The estimated costs of the rules of one schema. */
export class CostLedger {
  #total = 0;
  readonly #expensive: { readonly path: string; readonly cost: number }[] = [];

  /** Books the cost of an expression; says what is wrong if it is too much. */
  add({ path, name, cost, cardinality, minSize }: Entry): string | undefined {
    const total = cost * (cardinality ?? Math.floor(maxRequest / (minSize + 1)));
    this.#total += total;
    if (total >= schemaLimit / 100) this.#expensive.push({ path, cost: total });
    return total > expressionLimit
      ? tooExpensive(`estimated ${name} cost`, total, expressionLimit)
      : undefined;
  }

  /** The errors about the sum of all costs. */
  errors(path: string): FieldError[] {
    if (this.#total <= schemaLimit) return [];
    const most = this.#expensive.toSorted((a, b) => b.cost - a.cost).slice(0, shownExpressions);
    const contributed =
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...most.map((entry) => forbiddenField(entry.path, contributed)),
      forbiddenField(path, tooExpensive(name, this.#total, schemaLimit)),
    ];
  }
}

function tooExpensive(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown =
    factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
