import type { Expression } from './ast.ts';

/** `a.b.c` if the node is only names and dots. */
export function qualifiedName(node: Expression): string | undefined {
  if (node.kind === 'identifier') return node.name;
  if (node.kind !== 'select' || node.mode !== 'value') return undefined;
  const prefix = qualifiedName(node.operand);
  return prefix === undefined ? undefined : `${prefix}.${node.field}`;
}
