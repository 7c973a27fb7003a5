import type { Overload } from '../library/overload.ts';
import { requirePattern } from '../library/pattern.ts';
import type { Call, Expression } from '../syntax/ast.ts';
import { comparisonCost, sizeOf, traversalFactor } from '../values/cost.ts';
import { compareValues, unmetered, valuesEqual } from '../values/equality.ts';
import { noSuchOverload } from '../values/failure.ts';
import { ListValue, mapKey, type Value } from '../values/value.ts';
import { contains, findIndex, index } from './access.ts';
import { add, type BinaryOperation, divide, modulo, multiply, negate, not, subtract } from './arithmetic.ts';
import type { Compiler } from './compile.ts';
import { constantMembers, isAttribute } from './constants.ts';
import type { Evaluate, Frame } from './frame.ts';
import { type Matcher, matcher } from './matching.ts';

const arithmetic: ReadonlyMap<string, BinaryOperation> = new Map([
  ['_-_', subtract],
  ['_*_', multiply],
  ['_/_', divide],
  ['_%_', modulo],
]);

const orders: ReadonlyMap<string, (order: number) => boolean> = new Map([
  ['_<_', (order) => order < 0],
  ['_<=_', (order) => order <= 0],
  ['_>_', (order) => order > 0],
  ['_>=_', (order) => order >= 0],
]);

const unary: ReadonlyMap<string, (value: Value) => Value> = new Map([
  ['-_', negate],
  ['!_', not],
]);

/** Compiles an operator or a function call. */
export function compileCall(compiler: Compiler, node: Call): Evaluate {
  const overloads = compiler.checked.overloads[node.id];
  if (overloads) return compileFunction(compiler, node, overloads);
  const [first = noArgument, second = noArgument, third = noArgument] = node.args.map((arg) =>
    compiler.compile(arg),
  );
  const special = specialOperator(node, { first, second, third });
  if (special) return special;
  const single = unary.get(node.name);
  return single ? unaryOperator(first, single) : binaryOperator(node.name, first, second);
}

interface Operands {
  readonly first: Evaluate;
  readonly second: Evaluate;
  readonly third: Evaluate;
}

/** Operators whose cost depends on what their operands are. */
function specialOperator(node: Call, { first, second, third }: Operands): Evaluate | undefined {
  switch (node.name) {
    case '_?_:_':
      return conditional(first, branch(node.args[1], second), branch(node.args[2], third));
    case '@in': {
      const members = node.args[1] && constantMembers(node.args[1]);
      return members && membership(first, members);
    }
    case '_[_]':
    case '_[?_]':
      return element(node, first, second);
    default:
      return undefined;
  }
}

function noArgument(): Value {
  throw noSuchOverload();
}

interface Branch {
  readonly read: Evaluate;
  /** Reading an attribute costs one less here than elsewhere. */
  readonly cost: number;
}

function branch(node: Expression | undefined, read: Evaluate): Branch {
  const isConditional = node?.kind === 'call' && node.name === '_?_:_';
  return { read, cost: isAttribute(node) && !isConditional ? -1 : 0 };
}

function conditional(condition: Evaluate, whenTrue: Branch, whenFalse: Branch): Evaluate {
  return (frame) => {
    const value = condition(frame);
    if (typeof value !== 'boolean') throw noSuchOverload();
    const chosen = value ? whenTrue : whenFalse;
    frame.charge(chosen.cost);
    return chosen.read(frame);
  };
}

/** `x in [literals]`, which costs nothing. */
function membership(operand: Evaluate, members: ReadonlySet<string>): Evaluate {
  return (frame) => {
    const key = mapKey(operand(frame));
    return key !== undefined && members.has(key);
  };
}

/** `a[b]`: upstream reads an attribute in one go, with all its keys. */
function element(node: Call, operand: Evaluate, key: Evaluate): Evaluate {
  const read = node.name === '_[_]' ? index : findIndex;
  const [first, second] = node.args;
  const cost = (isAttribute(first) ? 1 : 2) - (isAttribute(second) ? 1 : 0);
  return (frame) => {
    const collection = operand(frame);
    const position = key(frame);
    frame.charge(cost);
    return read(collection, position);
  };
}

function unaryOperator(operand: Evaluate, operation: (value: Value) => Value): Evaluate {
  return (frame) => {
    const value = operand(frame);
    frame.charge(1);
    return operation(value);
  };
}

function binaryOperator(name: string, left: Evaluate, right: Evaluate): Evaluate {
  const order = orders.get(name);
  if (order) return orderOperator(order, left, right);
  const operation = arithmetic.get(name);
  if (operation) return constantCostOperator(operation, left, right);
  switch (name) {
    case '_==_':
      return (frame) => equal(frame, left(frame), right(frame));
    case '_!=_':
      return (frame) => !equal(frame, left(frame), right(frame));
    case '_+_':
      return (frame) => sum(frame, left(frame), right(frame));
    default:
      return (frame) => isIn(frame, left(frame), right(frame));
  }
}

function orderOperator(test: (order: number) => boolean, left: Evaluate, right: Evaluate): Evaluate {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.charge(typeof a === 'string' || a instanceof Uint8Array ? comparisonCost(a, b) : 1);
    return test(compareValues(a, b));
  };
}

function constantCostOperator(operation: BinaryOperation, left: Evaluate, right: Evaluate): Evaluate {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.charge(1);
    return operation(a, b);
  };
}

function equal(frame: Frame, a: Value, b: Value): boolean {
  frame.charge(comparisonCost(a, b));
  return valuesEqual(a, b, frame);
}

function sum(frame: Frame, a: Value, b: Value): Value {
  const isText = typeof a === 'string' || a instanceof Uint8Array;
  frame.charge(isText ? Math.ceil((sizeOf(a) + sizeOf(b)) * traversalFactor) : 1);
  return add(a, b);
}

function isIn(frame: Frame, value: Value, collection: Value): boolean {
  frame.charge(collection instanceof ListValue ? collection.size : 1);
  return contains(value, collection, frame);
}

const conversions = new Set(['bool', 'bytes', 'double', 'duration', 'int', 'string', 'timestamp', 'uint']);

/** Conversions of literals are done once, and cost nothing. */
function constantCall(overload: Overload, argument: Value): Evaluate {
  const value = overload.call([argument], unmetered);
  return () => value;
}

/** Fails if a literal is no regular expression. */
function checkPattern(argument: Expression | undefined): void {
  if (argument?.kind === 'literal' && typeof argument.value === 'string') requirePattern(argument.value);
}

interface Candidate {
  readonly overload: Overload;
  readonly matchers: readonly Matcher[];
}

function compileFunction(compiler: Compiler, node: Call, overloads: readonly Overload[]): Evaluate {
  const isMember = overloads[0]?.isMember === true;
  const nodes = isMember && node.target ? [node.target, ...node.args] : node.args;
  const reads = nodes.map((argument) => compiler.compile(argument));
  const candidates = overloads.map((overload) => ({ overload, matchers: overload.params.map(matcher) }));
  const choose = chooser(candidates);
  if (node.name === 'find' || node.name === 'findAll') checkPattern(node.args[0]);
  const [only] = nodes;
  if (nodes.length === 1 && only?.kind === 'literal' && conversions.has(node.name))
    return constantCall(choose([only.value]), only.value);
  return (frame) => {
    const args = reads.map((read) => read(frame));
    const overload = choose(args);
    frame.charge(overload.cost ? overload.cost(args) : 1);
    return overload.call(args, frame);
  };
}

/** Finds the overload for the values at hand; fails if there is none. */
function chooser(candidates: readonly Candidate[]): (args: readonly Value[]) => Overload {
  return (args) => {
    for (const candidate of candidates) if (fits(candidate.matchers, args)) return candidate.overload;
    throw noSuchOverload();
  };
}

function fits(matchers: readonly Matcher[], args: readonly Value[]): boolean {
  for (let position = 0; position < matchers.length; position++) {
    const isMatch = matchers[position];
    const value = args[position];
    if (!isMatch || value === undefined || !isMatch(value)) return false;
  }
  return true;
}
