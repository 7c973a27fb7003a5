import type { Call, Comprehension, Expression } from './ast.ts';

/** The nodes directly below a node. */
export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'literal':
    case 'identifier':
      return [];
    case 'select':
      return [node.operand];
    case 'call':
      return operandsOf(node);
    case 'logic':
      return node.terms;
    case 'comprehension':
      return partsOf(node);
    default:
      return elementsOf(node);
  }
}

type Aggregate = Exclude<
  Expression,
  { kind: 'literal' | 'identifier' | 'select' | 'call' | 'logic' | 'comprehension' }
>;

function elementsOf(node: Aggregate): readonly Expression[] {
  switch (node.kind) {
    case 'list':
      return node.elements.map((element) => element.value);
    case 'map':
      return node.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct':
      return node.fields.map((field) => field.value);
    case 'optionalMap':
      return [node.target, node.body];
  }
}

/** The receiver, if there is one, and the arguments. */
export function operandsOf(node: Call): readonly Expression[] {
  return node.target ? [node.target, ...node.args] : node.args;
}

function partsOf({ range, predicate, transform }: Comprehension): readonly Expression[] {
  return [range, predicate, transform].filter((part) => part !== undefined);
}
