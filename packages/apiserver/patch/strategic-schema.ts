import type { TypeSchema } from '@sheaf/api';

/** How a field of a document is patched. */
export interface PatchField {
  readonly schema: TypeSchema;
  /** `replace`, `merge` or '' (for a list: replace, for a map: merge). */
  readonly strategy: string;
  /** Empty where there is none. */
  readonly mergeKey: string;
}

const anySchema: TypeSchema = { type: 'any' };

/** Unknown fields and the values of maps are patched without strategies. */
export function patchFieldOf(schema: TypeSchema, name: string): PatchField {
  if (schema.type === 'map') return { schema: schema.values, strategy: '', mergeKey: '' };
  const field = schema.type === 'object' ? schema.fields.get(name) : undefined;
  if (field === undefined) return { schema: anySchema, strategy: '', mergeKey: '' };
  const strategy = field.patchStrategies.find((part) => part !== 'retainKeys') ?? '';
  return { schema: field.schema, strategy, mergeKey: field.patchMergeKey ?? '' };
}

export function itemSchemaOf(schema: TypeSchema): TypeSchema {
  return schema.type === 'list' ? schema.items : anySchema;
}
