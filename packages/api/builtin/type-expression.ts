import type { GoStruct, GoType } from './go-type.ts';

const specialNames: Readonly<Record<string, string>> = {
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  fieldsV1: 'v1.FieldsV1',
  rawExtension: 'runtime.RawExtension',
  json: 'v1.JSON',
  any: 'interface {}',
  schemaOrArray: 'v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'v1.JSONSchemaPropsOrBool',
  schemaOrStringArray: 'v1.JSONSchemaPropsOrStringArray',
};

type ResolveStruct = (name: string) => GoStruct;

/** Reads an expression of `type-file.ts`. */
export function parseType(expression: string, resolve: ResolveStruct): GoType {
  const isPointer = expression.startsWith('*');
  const rest = isPointer ? expression.slice(1) : expression;
  const named = /^\(([^)]*)\)(.*)$/.exec(rest);
  const type = parseUnnamed(named?.[2] ?? rest, resolve);
  return { ...type, isPointer, goName: named?.[1] ?? type.goName };
}

function parseUnnamed(expression: string, resolve: ResolveStruct): GoType {
  const base = { isPointer: false, items: undefined, struct: undefined, isWrapped: false };
  if (expression.startsWith('#')) {
    const struct = resolve(expression.slice(1));
    return { ...base, kind: 'struct', goName: struct.goName, struct };
  }
  const list = /^\[(w?)\](.*)$/.exec(expression);
  if (list !== null) {
    const items = parseType(list[2] ?? '', resolve);
    return { ...base, kind: 'list', goName: `[]${items.goName}`, items, isWrapped: list[1] === 'w' };
  }
  const map = /^\{([^}]*)\}(.*)$/.exec(expression);
  if (map !== null) {
    const items = parseType(map[2] ?? '', resolve);
    return { ...base, kind: 'map', goName: `map[${map[1] || 'string'}]${items.goName}`, items };
  }
  const union = expression.startsWith('schemaOr') ? resolve('apiextensions/v1.JSONSchemaProps') : undefined;
  const kind = expression as GoType['kind'];
  return { ...base, kind, goName: specialNames[expression] ?? expression, struct: union };
}
