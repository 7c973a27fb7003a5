import type { JsonSchema, SchemaSet } from '@sheaf/api';

interface FieldValues {
  readonly enum: readonly string[];
  /** What is said of the values, to be put after the field's own description. */
  readonly description: string;
}

/** By definition, then by the place of a schema within it, e.g. `properties/type`. */
type EnumFile = Readonly<Record<string, Readonly<Record<string, FieldValues>>>>;

/** Tells the values of those built-in fields that take one of a few. The definitions are changed in place. */
export async function addEnumValues(schemas: SchemaSet): Promise<void> {
  const module = await import('./generated/enums.json', { with: { type: 'json' } });
  const file = module.default as EnumFile;
  for (const name in schemas) {
    const places = Object.hasOwn(file, name) ? file[name] : undefined;
    for (const place in places) addValues(schemas[name], place.split('/'), places[place]);
  }
}

function addValues(
  root: JsonSchema | undefined,
  path: readonly string[],
  values: FieldValues | undefined,
): void {
  let part: unknown = root;
  for (const step of path) part = isObject(part) ? part[step] : undefined;
  if (!isObject(part) || values === undefined) return;
  const schema = part as JsonSchema;
  schema.enum = [...values.enum];
  if (values.description !== '') schema.description = (schema.description ?? '') + values.description;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
