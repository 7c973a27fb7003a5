import type { JsonSchema } from '@sheaf/api';

const token = /'(?:[^'\\]|\\[^])*'|[.[\]]|[^.[\]]+/gy;

const unescapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

/**
 * The `fieldPath` of a rule (`.spec.replicas`, `.labels['a.b']`) in the notation of field errors, or `undefined` if
 * it does not lead to a field of the schema.
 */
export function normalizeFieldPath(path: string, schema: JsonSchema): string | undefined {
  const tokens = path.match(token) ?? [];
  if (tokens.join('') !== path) return undefined;
  let current: JsonSchema | undefined = schema;
  let text = '';
  for (let index = 0; index < tokens.length; ) {
    const step: PathStep | undefined = readStep(tokens, index);
    if (!step || !current) return undefined;
    const isField = current.properties !== undefined;
    current = childOf(current, step.name);
    if (!current) return undefined;
    index += step.length;
    text += isField ? `${text === '' ? '' : '.'}${step.name}` : `[${step.name}]`;
  }
  return text === '' ? undefined : text;
}

interface PathStep {
  readonly name: string;
  readonly length: number;
}

function readStep(tokens: readonly string[], index: number): PathStep | undefined {
  const next = tokens[index + 1];
  if (next === undefined) return undefined;
  if (tokens[index] === '.') return { name: next, length: 2 };
  if (tokens[index] !== '[' || tokens[index + 2] !== ']') return undefined;
  const name = unquote(next);
  return name === undefined ? undefined : { name, length: 3 };
}

function unquote(text: string): string | undefined {
  if (text.length < 2 || !text.startsWith("'") || !text.endsWith("'")) return undefined;
  let isValid = true;
  const name = text.slice(1, -1).replace(/\\([^])/g, (_, char: string) => {
    const plain = unescapes[char];
    isValid &&= plain !== undefined;
    return plain ?? '';
  });
  return isValid ? name : undefined;
}

function childOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  if (schema.properties) return Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
  const { additionalProperties } = schema;
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}
