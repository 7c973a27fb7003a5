import { type SchemaNode, schemaAt } from './json-schema.ts';
import type { PublishedDefinition } from './published-definitions.ts';
import { type TypeFile, typeFileTable } from './type-names.ts';
import { TypeTexts } from './type-texts.ts';

interface NamedSchema {
  readonly name: string;
  readonly schema: SchemaNode;
  /** A whole object: its metadata comes with `KubeObject`. */
  readonly isObject: boolean;
}

const head = '// Written by generate/write-definitions.ts; see generated/NOTICE of this package.';

/** Sources of the types of the kinds that features work with, by file name. */
export function typeFiles(definitions: readonly PublishedDefinition[]): ReadonlyMap<string, string> {
  const byName = new Map(definitions.map((definition) => [definition.metadata.name, definition]));
  const types = new TypeTexts();
  const files = typeFileTable.map(({ file, ...entry }) => ({ file, named: namedSchemas(entry, byName) }));
  for (const { file, named } of files)
    for (const { name, schema, isObject } of named) if (!isObject) types.name(schema, { name, file });
  return new Map(files.map(({ file, named }) => [file, fileText(file, named, types)]));
}

function namedSchemas(
  { definitions }: Omit<TypeFile, 'file'>,
  byName: ReadonlyMap<string, PublishedDefinition>,
): readonly NamedSchema[] {
  return Object.entries(definitions).flatMap(([name, inner]) => {
    const definition = byName.get(name);
    const version = definition?.spec.versions.find(({ storage }) => storage);
    if (!definition || !version) throw new Error(`there is no definition ${name}`);
    return schemasOf(definition.spec.names.kind, version.schema.openAPIV3Schema, inner);
  });
}

function schemasOf(
  kind: string,
  schema: SchemaNode,
  inner: Readonly<Record<string, string>>,
): readonly NamedSchema[] {
  const usual = ['spec', 'status'].flatMap((field) => {
    const child = schema.properties?.[field];
    const name = `${kind}${field === 'spec' ? 'Spec' : 'Status'}`;
    return child?.properties ? [{ name, schema: child, isObject: false }] : [];
  });
  const further = Object.entries(inner).map(([name, path]) => {
    const child = schemaAt(schema, path.split('.'));
    if (!child) throw new Error(`${kind} has nothing at ${path}`);
    return { name, schema: child, isObject: false };
  });
  return [{ name: kind, schema, isObject: true }, ...usual, ...further];
}

function fileText(file: string, named: readonly NamedSchema[], types: TypeTexts): string {
  const body = named.map(({ name, schema, isObject }) =>
    isObject ? types.objectOf({ name, file }, schema) : types.interfaceOf({ name, file }, schema),
  );
  const imports = types
    .importsOf(file, body)
    .map(([from, names]) => `import type { ${names.join(', ')} } from '${from}';`);
  return `${[head, imports.join('\n'), ...body].filter((part) => part !== '').join('\n\n')}\n`;
}
