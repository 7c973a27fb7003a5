import type { Comprehension, Expression, OptionalMap } from '../syntax/ast.ts';
import type { CheckContext } from './context.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  errorType,
  formatSignature,
  formatType,
  intType,
  isDynamic,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
  stringType,
  timestampType,
  uintType,
} from './type.ts';

/** Checks a macro that iterates, e.g. `list.all(x, x > 0)`. */
export function checkComprehension(context: CheckContext, node: Comprehension): CelType {
  const range = context.substitution.resolve(context.check(node.range));
  const types = variableTypes(context, node, range);
  const variables = node.variables.map((name, index) => [name, types[index] ?? dynType] as const);
  let result: CelType = errorType;
  context.slots[node.id] = context.withVariables(variables, () => {
    const transform = node.transform ? context.check(node.transform) : dynType;
    const element = node.transform ? transform : (types[0] ?? dynType);
    if (node.predicate) checkPredicate(context, node, { predicate: node.predicate, element });
    result = resultType(context, node, { range, key: types[0] ?? dynType, transform });
  });
  return result;
}

/** The types of the iteration variables: the element or key alone, or index and element, key and value. */
function variableTypes(context: CheckContext, node: Comprehension, range: CelType): readonly CelType[] {
  const isSingle = node.variables.length === 1;
  if (range.kind === 'list') {
    const element = range.params[0] ?? dynType;
    return isSingle ? [element] : [intType, element];
  }
  if (range.kind === 'map') return range.params;
  if (range.kind !== 'param' && !isDynamic(range))
    context.report(
      node.range.offset,
      `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
  return [dynType, dynType];
}

interface Predicate {
  readonly predicate: Expression;
  /** What the macro collects. */
  readonly element: CelType;
}

function checkPredicate(context: CheckContext, node: Comprehension, { predicate, element }: Predicate): void {
  const type = context.check(predicate);
  if (context.substitution.assign([boolType], [type])) return;
  if (node.macro === 'all' || node.macro === 'exists') {
    context.mismatch(predicate.offset, boolType, type);
    return;
  }
  const branch = node.macro === 'existsOne' ? intType : listOf(element);
  const types = [type, branch, branch].map((part) => context.substitution.resolve(part, false));
  context.report(
    node.offset,
    `found no matching overload for '_?_:_' applied to '${formatSignature(types, false)}'`,
  );
}

interface Parts {
  readonly range: CelType;
  readonly key: CelType;
  readonly transform: CelType;
}

function resultType(context: CheckContext, node: Comprehension, parts: Parts): CelType {
  switch (node.macro) {
    case 'filter':
      return listOf(parts.range.kind === 'map' ? parts.key : elementType(parts.range));
    case 'map':
    case 'transformList':
      return listOf(parts.transform);
    case 'transformMap':
      return mapOf(parts.key, parts.transform);
    case 'transformMapEntry':
      return entriesType(context, node, parts.transform);
    case 'sortBy':
      return sortedType(context, node, parts);
    default:
      return boolType;
  }
}

function elementType(range: CelType): CelType {
  return range.kind === 'list' ? (range.params[0] ?? dynType) : dynType;
}

function entriesType(context: CheckContext, node: Comprehension, entry: CelType): CelType {
  const own = context.substitution.resolve(entry);
  if (own.kind === 'map') return own;
  if (isDynamic(own)) return mapOf(dynType, dynType);
  const signature = formatSignature([mapOf(dynType, dynType), own], false);
  context.report(node.offset, `found no matching overload for 'cel.@mapInsert' applied to '${signature}'`);
  return errorType;
}

const ordered = [intType, uintType, doubleType, boolType, durationType, timestampType, stringType, bytesType];

function sortedType(context: CheckContext, node: Comprehension, parts: Parts): CelType {
  const key = context.substitution.resolve(parts.transform);
  const isOrdered = isDynamic(key) || key.kind === 'param' || ordered.some((type) => type.kind === key.kind);
  if (!isOrdered) {
    const signature = formatSignature([parts.range, listOf(key)], true);
    context.report(
      node.offset,
      `found no matching overload for '@sortByAssociatedKeys' applied to '${signature}'`,
    );
  }
  return parts.range.kind === 'list' ? parts.range : listOf(dynType);
}

/** Checks `optMap` and `optFlatMap`. */
export function checkOptionalMap(context: CheckContext, node: OptionalMap): CelType {
  const target = context.substitution.resolve(context.check(node.target));
  const isFitting = isOptional(target) || isDynamic(target);
  if (!isFitting)
    context.report(
      node.offset,
      `found no matching overload for 'hasValue' applied to '${formatSignature([target], true)}'`,
    );
  const value = isOptional(target) ? (target.params[0] ?? dynType) : dynType;
  let body: CelType = errorType;
  context.slots[node.id] = context.withVariables([[node.variable, value]], () => {
    body = context.substitution.resolve(context.check(node.body));
  });
  return node.isFlat ? flatType(context, node, body) : optionalOf(body);
}

function flatType(context: CheckContext, node: OptionalMap, body: CelType): CelType {
  if (isOptional(body) || isDynamic(body)) return body;
  const signature = formatSignature([boolType, body, optionalOf(dynType)], false);
  context.report(node.offset, `found no matching overload for '_?_:_' applied to '${signature}'`);
  return errorType;
}
