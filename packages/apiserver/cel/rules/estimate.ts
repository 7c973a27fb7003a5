import type { CompiledExpression } from '../expression.ts';
import type { DeclaredType } from '../schema/declared-type.ts';
import type { Call, Comprehension, Expression, Select } from '../syntax/ast.ts';
import { childrenOf, operandsOf } from '../syntax/children.ts';
import { regexFactor, traversalFactor } from '../values/cost.ts';

/** What is known of a value before it is there. */
interface Estimate {
  /** Units to compute it. */
  readonly cost: number;
  /** Its schema, if it is part of an object. */
  readonly declared?: DeclaredType | undefined;
  /** The most elements it can have; 0 where that is not known. */
  readonly size: number;
}

type Scope = ReadonlyMap<string, DeclaredType | undefined>;

/**
 * The most an expression can cost, given the sizes that the schema allows. Counts only what upstream's estimate counts
 * as well, so that it is never higher than that: rules that just pass upstream must pass here.
 */
export function estimateCost({ checked }: CompiledExpression, variables: Scope): number {
  return estimate(checked.root, variables).cost;
}

function estimate(node: Expression, scope: Scope): Estimate {
  switch (node.kind) {
    case 'literal':
      return { cost: 0, size: typeof node.value === 'string' ? node.value.length : 0 };
    case 'identifier':
      return sized(1, scope.get(node.name));
    case 'select':
      return estimateSelect(node, scope);
    case 'call':
      return estimateCall(node, scope);
    case 'comprehension':
      return estimateComprehension(node, scope);
    case 'optionalMap':
      return { cost: estimate(node.target, scope).cost, size: 0 };
    default:
      return {
        cost: sumCosts(childrenOf(node), scope),
        size: node.kind === 'list' ? node.elements.length : 0,
      };
  }
}

function estimateSelect(node: Select, scope: Scope): Estimate {
  const operand = estimate(node.operand, scope);
  return sized(operand.cost + (node.mode === 'test' ? 0 : 1), operand.declared?.fields?.get(node.field));
}

function sized(cost: number, declared: DeclaredType | undefined): Estimate {
  return { cost, declared, size: declared?.maxElements ?? 0 };
}

function sumCosts(nodes: readonly Expression[], scope: Scope): number {
  return nodes.reduce((sum, node) => sum + estimate(node, scope).cost, 0);
}

function estimateCall(node: Call, scope: Scope): Estimate {
  const [first, second, third] = operandsOf(node).map((operand) => estimate(operand, scope));
  if (!first) return { cost: 0, size: 0 };
  const own = [first, second, third].filter((part) => part !== undefined);
  if (node.name === '_?_:_') {
    const branches = Math.max(second?.cost ?? 0, third?.cost ?? 0);
    return { cost: first.cost + branches, size: 0 };
  }
  const cost = own.reduce((sum, part) => sum + part.cost, 0) + callCost(node.name, first, second);
  if (node.name === '_[_]') return sized(cost, first.declared?.element);
  return { cost, size: keepsSize.has(node.name) ? first.size : 0 };
}

const keepsSize = new Set(['lowerAscii', 'upperAscii', 'trim', 'substring']);
const traversing = new Set(['lowerAscii', 'upperAscii', 'trim', 'substring']);

/** The part of a call's cost that depends on sizes; 0 where upstream's may be lower than one would think. */
function callCost(name: string, first: Estimate, second: Estimate | undefined): number {
  if (traversing.has(name)) return first.size * traversalFactor;
  if (name === 'matches' && second && second.size > 0)
    return (first.size + 1) * traversalFactor * second.size * regexFactor;
  return 0;
}

function estimateComprehension(node: Comprehension, scope: Scope): Estimate {
  const range = estimate(node.range, scope);
  const inner = new Map(scope);
  for (const name of node.variables) inner.set(name, undefined);
  const isMap = range.declared?.type.kind === 'map';
  const [first, second] = node.variables;
  const element = second ?? (isMap ? undefined : first);
  if (element !== undefined) inner.set(element, range.declared?.element);
  const bodies = [node.predicate, node.transform].filter((part) => part !== undefined);
  const body = bodies.reduce((sum, part) => sum + estimate(part, inner).cost, 0);
  const isList = node.macro === 'map' || node.macro === 'filter';
  return { cost: range.cost + range.size * body, size: isList ? range.size : 0 };
}
