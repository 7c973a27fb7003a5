import { parseClauses, wrongClause } from '../library/format-text.ts';
import type { Call, Expression } from '../syntax/ast.ts';
import type { CheckContext } from './context.ts';
import { type CelType, isDynamic, type TypeKind } from './type.ts';

const integers: readonly TypeKind[] = ['int', 'uint'];
const texts: readonly TypeKind[] = [
  'string',
  'bool',
  'bytes',
  'int',
  'uint',
  'double',
  'map',
  'list',
  'type',
  'duration',
  'timestamp',
  'null',
];

interface ClauseRule {
  readonly name: string;
  readonly allowed: string;
  readonly kinds: readonly TypeKind[];
}

const hex: ClauseRule = {
  name: 'hex',
  allowed: 'integers, byte buffers, and strings',
  kinds: [...integers, 'bytes', 'string'],
};

const rules: Readonly<Record<string, ClauseRule>> = {
  s: {
    name: 'string',
    allowed: 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    kinds: texts,
  },
  d: { name: 'decimal', allowed: 'integers', kinds: integers },
  f: { name: 'fixed-point', allowed: 'doubles', kinds: ['double'] },
  e: { name: 'scientific', allowed: 'doubles', kinds: ['double'] },
  b: { name: 'binary', allowed: 'integers and bools', kinds: [...integers, 'bool'] },
  o: { name: 'octal', allowed: 'integers', kinds: integers },
  x: hex,
  X: hex,
};

/** Reports what is wrong with `"literal".format([…])`. */
export function checkFormatCall(context: CheckContext, node: Call): void {
  const { target, args } = node;
  const list = args[0];
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return;
  const verbs = parseClauses(target.value).map((clause) => clause.verb);
  const elements = list.elements.map((element) => element.value);
  for (const [index, verb] of verbs.entries()) {
    const element = elements[index];
    if (!element) return context.report(node.offset, `index ${index} out of range`);
    if (!checkClause(context, verb, { element, offset: node.offset })) return;
  }
  if (elements.length > verbs.length)
    context.report(
      node.offset,
      `too many arguments supplied to string.format (expected ${verbs.length}, got ${elements.length})`,
    );
}

interface Argument {
  readonly element: Expression;
  /** Of the call. */
  readonly offset: number;
}

function checkClause(context: CheckContext, verb: string, { element, offset }: Argument): boolean {
  const rule = Object.hasOwn(rules, verb) ? rules[verb] : undefined;
  if (!rule) {
    context.report(offset, `could not parse formatting clause: unrecognized formatting clause "${verb}"`);
    return false;
  }
  const type = context.typeOf(element);
  if (isAccepted(type, rule)) return true;
  context.report(element.offset, wrongClause(rule.name, rule.allowed, typeNameOf(type)));
  return false;
}

function isAccepted(type: CelType, rule: ClauseRule): boolean {
  return isDynamic(type) || type.kind === 'param' || rule.kinds.includes(type.kind);
}

function typeNameOf(type: CelType): string {
  if (type.kind === 'timestamp') return 'google.protobuf.Timestamp';
  if (type.kind === 'duration') return 'google.protobuf.Duration';
  return type.kind === 'null' ? 'null_type' : type.name;
}
