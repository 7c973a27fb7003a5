import { formatQuantity, type JsonObject, parseQuantity, quantityAsBigInt } from '@sheaf/base';
import { fieldsAt } from './fields.ts';

const milli = -3;
/** How canonical quantities end that may be finer than a thousandth. */
const finerThanMilli = /[nu]$|e-/;

/** Amounts of resources are kept in thousandths at the finest. */
export function roundResources(parent: JsonObject, ...names: readonly string[]): void {
  for (const name of names) {
    const amounts = fieldsAt(parent, name);
    for (const key of Object.keys(amounts)) {
      const text = amounts[key];
      if (typeof text === 'string' && finerThanMilli.test(text)) amounts[key] = roundUp(text);
    }
  }
}

function roundUp(text: string): string {
  const quantity = parseQuantity(text);
  if (quantity.scale >= milli) return text;
  return formatQuantity({
    unscaled: quantityAsBigInt(quantity, milli),
    scale: milli,
    format: quantity.format,
    text: undefined,
  });
}

/** `limits` and `requests` of containers, pods and claims. */
export function roundRequirements(requirements: JsonObject): void {
  roundResources(requirements, 'limits', 'requests');
}
