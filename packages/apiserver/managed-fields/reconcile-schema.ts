import type { TypeSchema } from '@sheaf/api';
import { type FieldSet, isMember, leaf } from './field-set.ts';
import { anySchema, fieldSchema, isAtomic, isDeclared, itemSchema } from './type-shape.ts';

/**
 * Puts right a set that was written when its schema divided values more finely: what was owned inside a map or list that is atomic by now
 * becomes ownership of the whole. Answers the very same set if nothing is to be done.
 */
export function reconcileSet(set: FieldSet, schema: TypeSchema): FieldSet {
  if (fitting.get(set) === schema) return set;
  const reconciled = reconcileChildren(set, schema);
  fitting.set(reconciled, schema);
  return reconciled;
}

/** The schema that a set was last found to fit: a live object is looked at with each write to it. */
const fitting = new WeakMap<FieldSet, TypeSchema>();

function reconcileChildren(set: FieldSet, schema: TypeSchema): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  for (const key in set) {
    if (key === '.') continue;
    const child = set[key] as FieldSet;
    const node = reconcileNode(child, childSchema(schema, key));
    if (node !== child) (changed ??= {})[key] = node;
  }
  return changed === undefined ? set : { ...set, ...changed };
}

function reconcileNode(node: FieldSet, schema: TypeSchema): FieldSet {
  if (schema.type === 'any' || schema.type === 'scalar' || isLeaf(node)) return node;
  return isAtomic(schema, schema.type === 'list' ? 'list' : 'map') ? leaf : reconcileChildren(node, schema);
}

function isLeaf(node: FieldSet): boolean {
  return node['.'] === undefined && isMember(node);
}

function childSchema(schema: TypeSchema, key: string): TypeSchema {
  if (!key.startsWith('f:')) return itemSchema(schema);
  const name = key.slice(2);
  return isDeclared(schema, name) ? fieldSchema(schema, name) : anySchema;
}
