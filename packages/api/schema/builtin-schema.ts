import { goStruct } from '../builtin/go-struct.ts';
import type { GoField, GoStruct, GoType } from '../builtin/go-type.ts';
import { findGoKind } from '../builtin/kinds.ts';
import type { GroupVersionKind } from '../meta/object.ts';
import { toApiVersion } from '../meta/object.ts';
import type { FieldSchema, ObjectSchema, ScalarSchema, TypeSchema } from './type-schema.ts';

const compiled = new Map<GoStruct, ObjectSchema>();

/**
 * The shape of a built-in kind, compiled on first use. Everything is nullable, as Go reads null as absent. Throws for
 * kinds that are not built in (see `builtinTypeName`).
 */
export function typeSchemaOf(gvk: GroupVersionKind): ObjectSchema {
  const struct = findGoKind(gvk);
  if (struct === undefined)
    throw new Error(`no built-in kind ${toApiVersion(gvk.group, gvk.version)} ${gvk.kind}`);
  return structSchema(struct);
}

/** `metadata` of every kind, built-in or custom. */
export function objectMetaSchema(): ObjectSchema {
  return structSchema(goStruct('meta/v1.ObjectMeta'));
}

/** The shape of a Go struct; the same node each time, so that recursive types refer back to themselves. */
export function structSchema(struct: GoStruct): ObjectSchema {
  const known = compiled.get(struct);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldSchema>();
  const schema: ObjectSchema = {
    type: 'object',
    fields,
    preserveUnknown: false,
    isAtomic: struct.isAtomic,
    isEmbeddedResource: false,
    nullable: true,
  };
  compiled.set(struct, schema);
  for (const field of struct.fields) {
    fields.set(field.json, {
      schema: fieldSchema(field),
      patchStrategies: field.patchStrategies,
      patchMergeKey: field.patchMergeKey,
    });
  }
  return schema;
}

const scalars: Readonly<Partial<Record<GoType['kind'], ScalarSchema['format']>>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  float64: 'number',
  bytes: 'bytes',
  quantity: 'quantity',
  intOrString: 'int-or-string',
  time: 'time',
  microTime: 'micro-time',
};

function fieldSchema(field: GoField): TypeSchema {
  const schema = goTypeSchema(field.type);
  if (schema.type === 'list') return { ...schema, listType: field.listType, mapKeys: field.mapKeys };
  if (!field.isMapAtomic || (schema.type !== 'map' && schema.type !== 'object')) return schema;
  return { ...schema, isAtomic: true };
}

function goTypeSchema(type: GoType): TypeSchema {
  const format = scalars[type.kind];
  if (format !== undefined) return { type: 'scalar', format, nullable: true };
  if (type.kind === 'struct' && type.struct !== undefined) return structSchema(type.struct);
  if (type.items === undefined) return { type: 'any' };
  const items = goTypeSchema(type.items);
  if (type.kind === 'map') return { type: 'map', values: items, isAtomic: false, nullable: true };
  return { type: 'list', items, listType: 'atomic', mapKeys: [], nullable: true };
}
