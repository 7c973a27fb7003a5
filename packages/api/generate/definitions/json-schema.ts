/** A node of a structural schema as it is published. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly [field: string]: unknown;
}

/** The node with `change` applied to each schema in it. `[]` names what an array holds, `{}` what a map does. */
export function mapChildren(
  node: SchemaNode,
  change: (child: SchemaNode, name: string) => SchemaNode,
): SchemaNode {
  const { properties, items, additionalProperties } = node;
  return {
    ...node,
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, child]) => [name, change(child, name)]),
          ),
        }
      : {}),
    ...(items ? { items: change(items, '[]') } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: change(additionalProperties, '{}') }
      : {}),
  };
}

/** The schema at a path of such names. */
export function schemaAt(node: SchemaNode | undefined, path: readonly string[]): SchemaNode | undefined {
  const [name, ...rest] = path;
  if (!node || name === undefined) return node;
  return schemaAt(childAt(node, name), rest);
}

function childAt(
  { properties, items, additionalProperties }: SchemaNode,
  name: string,
): SchemaNode | undefined {
  if (name === '[]') return items;
  if (name === '{}') return typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return properties?.[name];
}
