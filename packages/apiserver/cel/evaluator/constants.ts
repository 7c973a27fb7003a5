import type { Call, Expression } from '../syntax/ast.ts';
import { ArrayList, EntryMap, mapKey, type Value } from '../values/value.ts';

/** The value of a literal, or of a list or map of nothing but literals. */
export function constantValue(node: Expression): Value | undefined {
  if (node.kind === 'literal') return node.value;
  if (node.kind === 'list') return constantList(node.elements);
  if (node.kind !== 'map') return undefined;
  const map = new EntryMap();
  for (const { key, value, isOptional } of node.entries) {
    const [name, content] = [constantValue(key), constantValue(value)];
    if (isOptional || name === undefined || content === undefined || mapKey(name) === undefined)
      return undefined;
    map.set(name, content);
  }
  return map;
}

function constantList(
  elements: readonly { readonly value: Expression; readonly isOptional: boolean }[],
): Value | undefined {
  const items: Value[] = [];
  for (const { value, isOptional } of elements) {
    const item = isOptional ? undefined : constantValue(value);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return new ArrayList(items);
}

/** The keys of a list of nothing but scalar literals, for fast membership tests. */
export function constantMembers(node: Expression): ReadonlySet<string> | undefined {
  if (node.kind !== 'list') return undefined;
  const members = new Set<string>();
  for (const { value, isOptional } of node.elements) {
    const key = value.kind === 'literal' && !isOptional ? mapKey(value.value) : undefined;
    if (key === undefined) return undefined;
    members.add(key);
  }
  return members;
}

/** Whether a node reads a variable, a field or an element, and nothing else. */
export function isAttribute(node: Expression | undefined): boolean {
  switch (node?.kind) {
    case 'identifier':
      return true;
    case 'select':
      return node.mode !== 'test' && isAttribute(node.operand);
    case 'call':
      return isAttributeCall(node);
    default:
      return false;
  }
}

function isAttributeCall({ name, args }: Call): boolean {
  const [first, second, third] = args;
  if (name === '_?_:_') return isAttribute(second) && isAttribute(third);
  return (name === '_[_]' || name === '_[?_]') && isAttribute(first);
}
