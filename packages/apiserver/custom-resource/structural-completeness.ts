import { type FieldError, required } from '@sheaf/api';
import type { SchemaNode } from './schema-node.ts';

interface Pair {
  /** The checks under a junctor. */
  readonly checks: SchemaNode;
  readonly checksPath: string;
  /** What the schema says outside junctors about the same value; nothing if it is silent. */
  readonly schema: SchemaNode | undefined;
  readonly schemaPath: string;
}

/** Every field and list that is checked under a junctor must also be specified outside of it. */
export function validateCompleteness(node: SchemaNode, path: string, errors: FieldError[]): void {
  for (const [name, branch] of branchesOf(node)) {
    complete({ checks: branch, checksPath: `${path}.${name}`, schema: node, schemaPath: path }, errors);
  }
}

function branchesOf(node: SchemaNode): readonly (readonly [string, SchemaNode])[] {
  return [
    ...(node.not === undefined ? [] : [['not', node.not] as const]),
    ...node.allOf.map((branch, index) => [`allOf[${index}]`, branch] as const),
    ...node.anyOf.map((branch, index) => [`anyOf[${index}]`, branch] as const),
    ...node.oneOf.map((branch, index) => [`oneOf[${index}]`, branch] as const),
  ];
}

function complete(pair: Pair, errors: FieldError[]): void {
  const { checks, checksPath, schema, schemaPath } = pair;
  if (schema === undefined) {
    errors.push(required(schemaPath, `because it is defined in ${checksPath}`));
    return;
  }
  for (const [name, branch] of branchesOf(checks)) {
    complete({ ...pair, checks: branch, checksPath: `${checksPath}.${name}` }, errors);
  }
  if (checks.items !== undefined) {
    const below = { checks: checks.items, checksPath: `${checksPath}.items` };
    complete({ ...below, schema: schema.items, schemaPath: `${schemaPath}.items` }, errors);
  }
  for (const [name, property] of checks.properties) {
    const below = { checks: property, checksPath: `${checksPath}.properties[${name}]` };
    const path = `${schemaPath}.properties[${name}]`;
    complete({ ...below, schema: schema.properties.get(name), schemaPath: path }, errors);
  }
}
