import type { Overload, Signature } from '../library/overload.ts';
import type { Call, Expression, Logic } from '../syntax/ast.ts';
import { qualifiedName } from '../syntax/qualified-name.ts';
import type { CheckContext } from './context.ts';
import { checkLiteralArgument } from './literal-arguments.ts';
import { operatorSignatures } from './operators.ts';
import { boolType, type CelType, dynType, errorType, formatSignature, isDynamic, sameType } from './type.ts';
import { freshen } from './unify.ts';

/** Checks a call of a function, method or operator. */
export function checkCall(context: CheckContext, node: Call): CelType {
  const { target } = node;
  const operators = target ? undefined : operatorSignatures.get(node.name);
  if (operators) return resolve(context, node, operators);
  const namespaced = target && namespacedFunction(context, target, node.name);
  if (namespaced) return functionType(context, { ...node, target: undefined, name: namespaced });
  const overloads = context.declarations.functions.get(node.name);
  if (overloads) return functionType(context, node);
  if (target) context.check(target);
  for (const argument of node.args) context.check(argument);
  context.report(node.offset, `undeclared reference to '${node.name}' (in container '')`);
  return errorType;
}

/** `optional.of`, `math.greatest`: a function whose name has dots. */
function namespacedFunction(context: CheckContext, target: Expression, name: string): string | undefined {
  const prefix = qualifiedName(target);
  if (prefix === undefined) return undefined;
  const full = `${prefix}.${name}`;
  return context.declarations.functions.has(full) ? full : undefined;
}

function functionType(context: CheckContext, node: Call): CelType {
  const overloads = context.declarations.functions.get(node.name) ?? [];
  checkLiteralArgument(context, node);
  return resolve(context, node, overloads);
}

/** Finds the overloads that fit the arguments; several with different results give dyn. */
function resolve(context: CheckContext, node: Call, candidates: readonly Signature[]): CelType {
  const isMember = node.target !== undefined;
  const nodes = node.target ? [node.target, ...node.args] : node.args;
  for (const argument of nodes) context.check(argument);
  const types = nodes.map((argument) => context.typeOf(argument));
  const fitting: Signature[] = [];
  let result: CelType | undefined;
  for (const candidate of candidates) {
    if (candidate.isMember !== isMember) continue;
    const own = tryCandidate(context, candidate, types);
    if (!own) continue;
    fitting.push(candidate);
    result = result === undefined ? own : merge(result, own);
  }
  if (result === undefined) return noOverload(context, node, types);
  if (fitting.every(isOverload)) context.overloads[node.id] = fitting;
  return result;
}

function isOverload(signature: Signature): signature is Overload {
  return 'call' in signature;
}

function tryCandidate(
  context: CheckContext,
  candidate: Signature,
  types: readonly CelType[],
): CelType | undefined {
  if (candidate.params.length !== types.length) return undefined;
  const fresh = new Map<string, CelType>();
  const replace = (name: string): CelType => {
    const known = fresh.get(name) ?? context.substitution.freshParam();
    fresh.set(name, known);
    return known;
  };
  const params = candidate.params.map((param) => freshen(param, replace));
  if (!context.substitution.assign(params, types)) return undefined;
  return context.substitution.resolve(freshen(candidate.result, replace));
}

function merge(before: CelType, next: CelType): CelType {
  return isDynamic(before) || !sameType(before, next) ? dynType : before;
}

function noOverload(context: CheckContext, node: Call, types: readonly CelType[]): CelType {
  const shown = types.map((type) => context.substitution.resolve(type, false));
  const signature = formatSignature(shown, node.target !== undefined);
  context.report(node.offset, `found no matching overload for '${node.name}' applied to '${signature}'`);
  return errorType;
}

/** Checks a chain of `&&` or `||`. */
export function checkLogic(context: CheckContext, node: Logic): CelType {
  for (const term of node.terms) {
    const type = context.check(term);
    if (!context.substitution.assign([boolType], [type])) context.mismatch(term.offset, boolType, type);
  }
  return boolType;
}
