import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type JsonObject,
  parseQuantity,
  type Quantity,
} from '@sheaf/base';
import { objectAt, objectsAt, textAt } from './object-field.ts';

/** Quantities by the name of a resource. */
export type Amounts = Map<string, Quantity>;

export function amountsOf(list: JsonObject): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, value] of Object.entries(list)) {
    if (typeof value === 'string' || typeof value === 'number')
      amounts.set(name, parseQuantity(String(value)));
  }
  return amounts;
}

export function addAmounts(to: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = to.get(name);
    to.set(name, known ? addQuantities(known, amount) : amount);
  }
}

function raiseAmounts(to: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const known = to.get(name);
    if (!known || compareQuantities(amount, known) > 0) to.set(name, amount);
  }
}

/** `cpu=1,memory=1Gi`, in the order of the names. */
export function amountsText(amounts: Amounts): string {
  return [...amounts.keys()]
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts.get(name) ?? parseQuantity('0'))}`)
    .join(',');
}

function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/**
 * What a pod needs at least (`requests`) or at most (`limits`): the sum of its containers, or what some init container
 * needs while those before it that stay are running; where the pod says it itself, that.
 */
export function podAmounts(spec: JsonObject, which: 'requests' | 'limits'): Amounts {
  const total: Amounts = new Map();
  const staying: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const container of objectsAt(spec, 'containers'))
    addAmounts(total, containerAmounts(container, which));
  for (const container of objectsAt(spec, 'initContainers')) {
    const own = containerAmounts(container, which);
    if (textAt(container, 'restartPolicy') === 'Always') {
      addAmounts(total, own);
      addAmounts(staying, own);
      raiseAmounts(starting, staying);
    } else {
      addAmounts(own, staying);
      raiseAmounts(starting, own);
    }
  }
  raiseAmounts(total, starting);
  for (const [name, amount] of amountsOf(objectAt(objectAt(spec, 'resources'), which)))
    if (isPodLevel(name)) total.set(name, amount);
  return total;
}

export function containerAmounts(container: JsonObject, which: 'requests' | 'limits'): Amounts {
  return amountsOf(objectAt(objectAt(container, 'resources'), which));
}
