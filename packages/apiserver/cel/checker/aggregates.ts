import type { Expression } from '../syntax/ast.ts';
import { childrenOf } from '../syntax/children.ts';
import type { CheckContext } from './context.ts';
import { checkFormatCall } from './format-call.ts';
import { type CelType, dynType, formatType, isOptional } from './type.ts';

/**
 * Reports list and map literals whose elements differ in type, and format strings that do not fit their arguments. The
 * arguments of `format` may differ. For expressions whose types are right otherwise.
 */
export function checkAggregates(context: CheckContext, root: Expression): void {
  walk(context, root, false);
}

function walk(context: CheckContext, node: Expression, isExempt: boolean): void {
  if (!isExempt) checkElements(context, node);
  const isFormat = node.kind === 'call' && node.name === 'format' && node.target !== undefined;
  if (isFormat) checkFormatCall(context, node);
  for (const child of childrenOf(node)) walk(context, child, isWithinFormat(node, child, isExempt));
}

/** Lists and maps directly in the arguments of `format`, and in one another. */
function isWithinFormat(node: Expression, child: Expression, isExempt: boolean): boolean {
  if (node.kind === 'call') return node.name === 'format' && child !== node.target;
  return isExempt && (node.kind === 'list' || node.kind === 'map');
}

function checkElements(context: CheckContext, node: Expression): void {
  if (node.kind === 'list')
    compare(
      context,
      node.elements.map(({ value, isOptional }) => ({ node: value, isOptional })),
    );
  if (node.kind !== 'map') return;
  compare(
    context,
    node.entries.map(({ key }) => ({ node: key, isOptional: false })),
  );
  compare(
    context,
    node.entries.map(({ value, isOptional }) => ({ node: value, isOptional })),
  );
}

interface Element {
  readonly node: Expression;
  readonly isOptional: boolean;
}

function compare(context: CheckContext, elements: readonly Element[]): void {
  const [first, ...rest] = elements;
  if (!first) return;
  const expected = typeOf(context, first);
  for (const element of rest) {
    const actual = typeOf(context, element);
    if (formatType(actual) === formatType(expected)) continue;
    context.mismatch(element.node.offset, expected, actual);
    return;
  }
}

function typeOf(context: CheckContext, { node, isOptional: isUnwrapped }: Element): CelType {
  const type = context.substitution.resolve(context.types[node.id] ?? dynType, false);
  return isUnwrapped && isOptional(type) ? (type.params[0] ?? dynType) : type;
}
