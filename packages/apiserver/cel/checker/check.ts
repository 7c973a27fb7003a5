import type { Expression, ListLiteral, MapLiteral, Select, StructLiteral } from '../syntax/ast.ts';
import type { Issue } from '../syntax/issues.ts';
import { qualifiedName } from '../syntax/qualified-name.ts';
import { checkAggregates } from './aggregates.ts';
import { checkCall, checkLogic } from './check-call.ts';
import { checkComprehension, checkOptionalMap } from './check-comprehension.ts';
import { CheckContext, type CheckedExpression, type Declarations } from './context.ts';
import { valuesType } from './literal-type.ts';
import {
  boolType,
  type CelType,
  dynType,
  errorType,
  formatType,
  isDynamic,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
} from './type.ts';

export type CheckResult = CheckedExpression | { readonly issues: readonly Issue[] };

/** Checks the types of an expression. Never throws. */
export function check(root: Expression, declarations: Declarations): CheckResult {
  const context = new CheckContext(declarations, checkNode);
  checkNode(context, root);
  if (context.issues.length === 0) checkAggregates(context, root);
  if (context.issues.length > 0) return { issues: context.issues };
  const { slots, overloads, typeNames, slotCount, used } = context;
  const types = context.types.map((type) => context.substitution.resolve(type, false));
  return { root, types, slots, overloads, typeNames, slotCount, used };
}

/** Checks one node and those below it; returns its type. */
function checkNode(context: CheckContext, node: Expression): CelType {
  return context.set(node, nodeType(context, node));
}

function nodeType(context: CheckContext, node: Expression): CelType {
  switch (node.kind) {
    case 'literal':
      return valuesType(node.value);
    case 'identifier':
      return identifierType(context, node, node.name) ?? undeclared(context, node.offset, node.name);
    case 'select':
      return selectType(context, node);
    case 'call':
      return checkCall(context, node);
    case 'logic':
      return checkLogic(context, node);
    case 'comprehension':
      return checkComprehension(context, node);
    case 'optionalMap':
      return checkOptionalMap(context, node);
    default:
      return aggregateType(context, node);
  }
}

function aggregateType(context: CheckContext, node: ListLiteral | MapLiteral | StructLiteral): CelType {
  if (node.kind === 'list') return listType(context, node);
  return node.kind === 'map' ? mapType(context, node) : structType(context, node);
}

function undeclared(context: CheckContext, offset: number, name: string): CelType {
  context.report(offset, `undeclared reference to '${name}' (in container '')`);
  return errorType;
}

function identifierType(context: CheckContext, node: Expression, name: string): CelType | undefined {
  const binding = context.find(name);
  if (binding) {
    context.slots[node.id] = binding.slot;
    return binding.type;
  }
  const type = context.declarations.typeNames.get(name);
  if (type) context.typeNames.set(node.id, name);
  return type;
}

function selectType(context: CheckContext, node: Select): CelType {
  const name = node.mode === 'value' ? qualifiedName(node) : undefined;
  const named = name === undefined ? undefined : identifierType(context, node, name);
  if (named) return named;
  const operand = context.substitution.resolve(context.check(node.operand));
  const inner = isOptional(operand) ? (operand.params[0] ?? dynType) : operand;
  const field = fieldType(context, node, inner);
  if (node.mode === 'test') return boolType;
  const isWrapped = node.mode === 'optional' || isOptional(operand);
  return isWrapped && !isOptional(field) ? optionalOf(field) : field;
}

function fieldType(context: CheckContext, node: Select, operand: CelType): CelType {
  if (operand.kind === 'map') return operand.params[1] ?? dynType;
  if (operand.kind === 'object') return objectField(context, node, operand);
  if (operand.kind === 'param') {
    context.substitution.assign([dynType], [operand]);
    return dynType;
  }
  if (isDynamic(operand)) return dynType;
  context.report(node.offset, `type '${formatType(operand)}' does not support field selection`);
  return errorType;
}

function objectField(context: CheckContext, node: Select, operand: CelType): CelType {
  const type = operand.fields?.get(node.field);
  if (type) return type;
  context.report(node.offset, `undefined field '${node.field}'`);
  return errorType;
}

function listType(context: CheckContext, node: ListLiteral): CelType {
  let joined: CelType | undefined;
  for (const element of node.elements) {
    const type = context.check(element.value);
    const own = element.isOptional ? unwrapped(context, element.value, type) : type;
    joined = join(context, joined, own);
  }
  return listOf(joined ?? context.substitution.freshParam());
}

function unwrapped(context: CheckContext, node: Expression, type: CelType): CelType {
  const resolved = context.substitution.resolve(type);
  if (isOptional(resolved)) return resolved.params[0] ?? dynType;
  if (isDynamic(resolved)) return dynType;
  context.mismatch(node.offset, optionalOf(resolved), resolved);
  return errorType;
}

/** The type of elements of both types; dyn if they have nothing in common, which is reported afterwards. */
function join(context: CheckContext, before: CelType | undefined, next: CelType): CelType {
  if (before === undefined) return next;
  if (context.substitution.assign([before], [next])) return isDynamic(next) ? next : before;
  return dynType;
}

function mapType(context: CheckContext, node: MapLiteral): CelType {
  let keys: CelType | undefined;
  let values: CelType | undefined;
  for (const entry of node.entries) {
    keys = join(context, keys, context.check(entry.key));
    const type = context.check(entry.value);
    const own = entry.isOptional ? unwrapped(context, entry.value, type) : type;
    values = join(context, values, own);
  }
  const { substitution } = context;
  return mapOf(keys ?? substitution.freshParam(), values ?? substitution.freshParam());
}

function structType(context: CheckContext, node: StructLiteral): CelType {
  const type = context.declarations.structType(node.type);
  if (!type) return notStruct(context, node);
  for (const field of node.fields) {
    const expected = type.kind === 'dyn' ? dynType : type.fields?.get(field.name);
    if (!expected) context.report(field.offset, `undefined field '${field.name}'`);
    const given = context.check(field.value);
    const own = field.isOptional ? unwrapped(context, field.value, given) : given;
    if (expected && !context.substitution.assign([expected], [own]))
      fieldMismatch(context, field, [expected, own]);
  }
  return type;
}

function notStruct(context: CheckContext, node: StructLiteral): CelType {
  if (!context.declarations.typeNames.has(node.type)) return undeclared(context, node.offset, node.type);
  context.report(node.offset, `'${node.type}' is not a message type`);
  return errorType;
}

function fieldMismatch(
  context: CheckContext,
  field: { readonly name: string; readonly offset: number },
  types: readonly [CelType, CelType],
): void {
  const [expected, given] = types.map((type) => formatType(context.substitution.resolve(type)));
  context.report(
    field.offset,
    `expected type of field '${field.name}' is '${expected}' but provided type is '${given}'`,
  );
}
