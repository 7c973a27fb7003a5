import { goFloat, goNumber, isInteger } from './go-text.ts';
import type { SchemaNode } from './schema-node.ts';
import { allowedTypes, enforcedFormat } from './value-types.ts';

/** What is wrong with a number: with its value, with the range of its type, or with the schema's factor (the detail). */
export interface NumberFault {
  readonly detail: string;
  readonly about: 'value' | 'schema' | 'factor';
}

export type NumberRule = (value: number) => NumberFault | undefined;

const largestFloat32 = 3.4028235677973366e38;

/**
 * The rules of a node for numbers. Limits are compared exactly, where the reference implementation cuts fractions off
 * limits and factors before it compares integers with them.
 */
export function numberRules(node: SchemaNode): readonly NumberRule[] {
  const range = rangeOf(node);
  const rules: NumberRule[] = [(value) => general('Checked', range, value)];
  addLimits(node, { range, rules });
  if (node.multipleOf !== undefined) {
    const factor = node.multipleOf;
    rules.push(() => general('MultipleOf', range, factor));
    rules.push((value) => multipleFault(value, factor));
  }
  return rules;
}

interface LimitTarget {
  readonly range: NumberRange;
  readonly rules: NumberRule[];
}

function addLimits(node: SchemaNode, { range, rules }: LimitTarget): void {
  if (node.maximum !== undefined) {
    const limit = node.maximum;
    const isExclusive = node.exclusiveMaximum;
    rules.push(() => general('Maximum boundary', range, limit));
    rules.push((value) => {
      if (isExclusive ? value < limit : value <= limit) return undefined;
      return fault(`should be less than ${isExclusive ? '' : 'or equal to '}${showLimit(limit, value)}`);
    });
  }
  if (node.minimum !== undefined) {
    const limit = node.minimum;
    const isExclusive = node.exclusiveMinimum;
    rules.push(() => general('Minimum boundary', range, limit));
    rules.push((value) => {
      if (isExclusive ? value > limit : value >= limit) return undefined;
      return fault(`should be greater than ${isExclusive ? '' : 'or equal to '}${showLimit(limit, value)}`);
    });
  }
}

function showLimit(limit: number, value: number): string {
  return isInteger(value) ? goNumber(limit) : goFloat(limit);
}

function fault(detail: string): NumberFault {
  return { detail, about: 'value' };
}

interface NumberRange {
  readonly name: string;
  readonly contains: (value: number) => boolean;
}

function rangeOf(node: SchemaNode): NumberRange {
  const types = allowedTypes(node);
  const format = enforcedFormat(node);
  const type = types.length === 1 ? types[0] : '';
  const name = `${type} ${format === '' ? '(default format)' : `with format ${format}`}`;
  if (type === 'integer') return { name, contains: format === 'int32' ? isInt32 : isInteger };
  if (type === 'number' && format === 'float') {
    return { name, contains: (value) => Math.abs(value) < largestFloat32 };
  }
  return { name, contains: () => true };
}

function isInt32(value: number): boolean {
  return (value | 0) === value;
}

function general(what: string, range: NumberRange, value: number): NumberFault | undefined {
  if (range.contains(value)) return undefined;
  return { detail: `${what} value must be of type ${range.name}`, about: 'schema' };
}

function multipleFault(value: number, factor: number): NumberFault | undefined {
  if (factor <= 0) return { detail: goNumber(factor), about: 'factor' };
  const isMultiple =
    isInteger(value) && isInteger(factor)
      ? value % factor === 0
      : isNearlyInteger(factor < 1 ? (1 / factor) * value : value / factor);
  return isMultiple ? undefined : fault(`should be a multiple of ${goNumber(factor)}`);
}

/** Whether a quotient of decimals is whole but for rounding. */
function isNearlyInteger(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  const nearest = Math.round(value);
  if (nearest === value) return true;
  return nearest !== 0 && Math.abs(value - nearest) / (Math.abs(value) + Math.abs(nearest)) < 1e-9;
}
