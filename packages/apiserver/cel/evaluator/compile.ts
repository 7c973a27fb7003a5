import type { CheckedExpression } from '../checker/context.ts';
import type { Expression, ListLiteral, Logic, MapLiteral, Select, StructLiteral } from '../syntax/ast.ts';
import { listCreateCost, mapCreateCost, structCreateCost } from '../values/cost.ts';
import { EvaluationFailure, failure, noSuchOverload } from '../values/failure.ts';
import { ArrayList, EntryMap, Optional, StructValue, TypeValue, type Value } from '../values/value.ts';
import { findField, hasField, selectField } from './access.ts';
import { compileCall } from './compile-call.ts';
import { compileComprehension, compileOptionalMap } from './compile-comprehension.ts';
import { constantValue, isAttribute } from './constants.ts';
import type { Evaluate, Frame } from './frame.ts';

/** Compiles nodes of one checked expression. */
export interface Compiler {
  readonly checked: CheckedExpression;
  compile(node: Expression): Evaluate;
}

/** Turns a checked expression into a function. */
export function compileChecked(checked: CheckedExpression): Evaluate {
  const compiler: Compiler = { checked, compile: (node) => compileNode(compiler, node) };
  return compiler.compile(checked.root);
}

function compileNode(compiler: Compiler, node: Expression): Evaluate {
  const typeName = compiler.checked.typeNames.get(node.id);
  return typeName === undefined ? compileKind(compiler, node) : constant(new TypeValue(typeName));
}

function compileKind(compiler: Compiler, node: Expression): Evaluate {
  switch (node.kind) {
    case 'literal':
      return constant(node.value);
    case 'identifier':
      return variable(compiler.checked.slots[node.id] ?? 0);
    case 'select':
      return compileSelect(compiler, node);
    case 'call':
      return compileCall(compiler, node);
    case 'logic':
      return compileLogic(compiler, node);
    case 'comprehension':
      return compileComprehension(compiler, node);
    case 'optionalMap':
      return compileOptionalMap(compiler, node);
    default:
      return compileAggregate(compiler, node);
  }
}

function compileAggregate(compiler: Compiler, node: ListLiteral | MapLiteral | StructLiteral): Evaluate {
  const known = constantValue(node);
  if (known !== undefined) return constant(known);
  if (node.kind === 'list') return compileList(compiler, node);
  return node.kind === 'map' ? compileMap(compiler, node) : compileStruct(compiler, node);
}

function constant(value: Value): Evaluate {
  return () => value;
}

function variable(slot: number): Evaluate {
  return (frame) => {
    frame.charge(1);
    const value = frame.slots[slot];
    if (value === undefined) throw failure('no such attribute');
    return value;
  };
}

function compileSelect(compiler: Compiler, node: Select): Evaluate {
  const slot = compiler.checked.slots[node.id];
  if (slot !== undefined) return variable(slot);
  const operand = compiler.compile(node.operand);
  const { field } = node;
  if (node.mode === 'test') return (frame) => hasField(operand(frame), field);
  if (node.mode === 'optional') return optionalSelect(operand, field);
  const cost = isAttribute(node.operand) ? 1 : 2;
  return (frame) => {
    const value = operand(frame);
    frame.charge(cost);
    return selectField(value, field);
  };
}

/** A field that is absent costs nothing. */
function optionalSelect(operand: Evaluate, field: string): Evaluate {
  return (frame) => {
    const found = findField(operand(frame), field);
    frame.charge(found.value === undefined ? 0 : 1);
    return found;
  };
}

/** `&&` and `||`: a term that decides wins over terms that fail, wherever it stands. */
function compileLogic(compiler: Compiler, node: Logic): Evaluate {
  const terms = node.terms.map((term) => compiler.compile(term));
  const deciding = node.operator === '||';
  return (frame) => {
    let failed: EvaluationFailure | undefined;
    for (const term of terms) {
      const value = attempt(term, frame);
      if (value === deciding) return deciding;
      if (value !== !deciding) failed ??= value instanceof EvaluationFailure ? value : noSuchOverload();
    }
    if (failed) throw failed;
    return !deciding;
  };
}

/** The value of a term, or its failure. Cancellation goes through. */
export function attempt(term: Evaluate, frame: Frame): Value | EvaluationFailure {
  try {
    return term(frame);
  } catch (error) {
    if (error instanceof EvaluationFailure) return error;
    throw error;
  }
}

function compileList(compiler: Compiler, node: ListLiteral): Evaluate {
  const elements = node.elements.map(({ value, isOptional }) => ({
    read: compiler.compile(value),
    isOptional,
  }));
  return (frame) => {
    const items: Value[] = [];
    for (const { read, isOptional } of elements) {
      const value = isOptional ? present(read(frame)) : read(frame);
      if (value !== undefined) items.push(value);
    }
    frame.charge(listCreateCost);
    return new ArrayList(items);
  };
}

function present(value: Value): Value | undefined {
  if (value instanceof Optional) return value.value;
  throw noSuchOverload();
}

function compileMap(compiler: Compiler, node: MapLiteral): Evaluate {
  const entries = node.entries.map(({ key, value, isOptional }) => ({
    key: compiler.compile(key),
    read: compiler.compile(value),
    isOptional,
  }));
  return (frame) => {
    const map = new EntryMap();
    for (const { key, read, isOptional } of entries) {
      const name = key(frame);
      const value = isOptional ? present(read(frame)) : read(frame);
      if (value !== undefined) map.set(name, value);
    }
    frame.charge(mapCreateCost);
    return map;
  };
}

function compileStruct(compiler: Compiler, node: StructLiteral): Evaluate {
  const fields = node.fields.map(({ name, value, isOptional }) => ({
    name,
    read: compiler.compile(value),
    isOptional,
  }));
  const { type } = node;
  return (frame) => {
    const struct = new StructValue(type);
    for (const { name, read, isOptional } of fields) {
      const value = isOptional ? present(read(frame)) : read(frame);
      if (value !== undefined) struct.set(name, value);
    }
    frame.charge(structCreateCost);
    return struct;
  };
}
