import type { SchemaNode } from './schema-node.ts';

/** Where a path leads in a schema, or why it leads nowhere. */
export type SchemaAtPath =
  | { readonly steps: readonly string[]; readonly schema: SchemaNode | undefined }
  | { readonly fault: string };

export interface SchemaPathOptions {
  /** Also `['name']`, not only `.name`. */
  readonly allowsBrackets: boolean;
}

/** Follows `.spec.field` or `.spec['field']` through properties and additionalProperties. */
export function findSchemaAt(root: SchemaNode, path: string, options: SchemaPathOptions): SchemaAtPath {
  const tokens = tokenize(path);
  const steps: string[] = [];
  let schema: SchemaNode | undefined = root;
  for (let i = 0; i < tokens.length; ) {
    const step = readStep(tokens, i, options);
    if ('fault' in step) return step;
    const next = enter(schema, step.name);
    if ('fault' in next) return next;
    schema = next.schema;
    steps.push(step.name);
    i += step.length;
    if (step.isOpen) return { fault: closingFault(tokens, i - 1) };
  }
  return { steps, schema };
}

/** Splits at `.`, `[` and `]`; texts in single quotes stay whole. */
function tokenize(path: string): readonly string[] {
  return path.match(/'(?:[^']|(?<=\\)')*'|[.[\]]|[^.[\]']+[^.[\]]*|'[^.[\]]*/g) ?? [];
}

type Step =
  | { readonly name: string; readonly length: number; readonly isOpen: boolean }
  | { readonly fault: string };

function readStep(tokens: readonly string[], index: number, options: SchemaPathOptions): Step {
  const [open, name, close] = tokens.slice(index, index + 3);
  if (open === '.') {
    return name === undefined ? { fault: 'unexpected end of JSON path' } : { name, length: 2, isOpen: false };
  }
  if (open !== '[') return { fault: `expected [ or . but got: ${open}` };
  if (!options.allowsBrackets) return { fault: 'array notation is not allowed' };
  if (name === undefined) return { fault: 'unexpected end of JSON path' };
  if (!/^'.*'$/s.test(name) || name.length < 2)
    return { fault: `expected single quoted string but got ${name}` };
  return { name: name.slice(1, -1).replace(/\\(['\\])/g, '$1'), length: 3, isOpen: close !== ']' };
}

function closingFault(tokens: readonly string[], index: number): string {
  const token = tokens[index];
  return token === undefined ? 'unexpected end of JSON path' : `expected ] but got ${token}`;
}

function enter(
  schema: SchemaNode | undefined,
  name: string,
): { readonly schema: SchemaNode | undefined } | { readonly fault: string } {
  const nowhere = { fault: 'does not refer to a valid field' };
  if (schema === undefined) return nowhere;
  if (schema.properties.size > 0) {
    const property = schema.properties.get(name);
    return property === undefined ? nowhere : { schema: property };
  }
  return schema.additionalProperties === undefined ? nowhere : { schema: schema.additionalProperties.schema };
}
