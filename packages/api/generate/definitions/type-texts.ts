import type { SchemaNode } from './json-schema.ts';

interface TypeName {
  readonly name: string;
  /** Where it is declared. */
  readonly file: string;
}

const metaFile = '../../meta/object.ts';

/** In other files a type is told by its name only if it is longer: the same few fields are chance. */
const foreignLength = 1000;

/** Writes the types of schemas in TypeScript. */
export class TypeTexts {
  /** By what the schema says, but for its first words. */
  readonly #names = new Map<string, TypeName[]>();
  readonly #files = new Map([
    ['KubeObject', metaFile],
    ['ObjectMeta', metaFile],
  ]);

  /** From now on the type of such schemas is told by its name. The first name counts. */
  name(schema: SchemaNode, { name, file }: TypeName): void {
    const key = keyOf(schema);
    this.#names.set(key, [...(this.#names.get(key) ?? []), { name, file }]);
    this.#files.set(name, `./${file}`);
  }

  /** The type of a whole object; its metadata comes with `KubeObject`. */
  objectOf(type: TypeName, schema: SchemaNode): string {
    const own = { ...schema, properties: { ...schema.properties } };
    for (const field of ['apiVersion', 'kind', 'metadata']) delete own.properties[field];
    return this.#declaration(`${type.name} extends KubeObject`, own, type);
  }

  interfaceOf(type: TypeName, schema: SchemaNode): string {
    return this.#declaration(type.name, schema, type);
  }

  #declaration(title: string, schema: SchemaNode, type: TypeName): string {
    return indented(
      `${comment(schema.description)}export interface ${title} {\n${this.#fields(schema, type)}}`,
    );
  }

  /** What the texts of a file need from others, by file. */
  importsOf(file: string, texts: readonly string[]): readonly (readonly [string, readonly string[]])[] {
    const words = new Set(
      texts.flatMap((text) => text.replaceAll(/\/\*\*.*?\*\//g, '').match(/\b[A-Z]\w*/g) ?? []),
    );
    const needed = new Map<string, string[]>();
    for (const word of [...words].sort()) {
      const from = this.#files.get(word);
      if (from !== undefined && from !== `./${file}`) needed.set(from, [...(needed.get(from) ?? []), word]);
    }
    return [...needed].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #fields(schema: SchemaNode, within: TypeName): string {
    return Object.entries(schema.properties ?? {})
      .map(([field, child]) => {
        const key = /^\w+$/.test(field) ? field : `'${field}'`;
        const optional = schema.required?.includes(field) ? '' : '?';
        return `${comment(child.description)}readonly ${key}${optional}: ${this.#type(child, within)};\n`;
      })
      .join('');
  }

  #type(node: SchemaNode, within: TypeName): string {
    return `${this.#plainType(node, within)}${node.nullable ? ' | null' : ''}`;
  }

  #plainType(node: SchemaNode, within: TypeName): string {
    const named = this.#nameOf(node, within);
    if (named !== undefined) return named;
    if (node['x-kubernetes-int-or-string'] === true) return 'string | number';
    if (node.enum) return node.enum.map((value) => `'${String(value)}'`).join(' | ');
    if (node.type === 'array') return this.#arrayType(node.items ?? {}, within);
    if (node.type === 'object') return this.#objectType(node, within);
    return scalarTypes[node.type ?? ''] ?? 'unknown';
  }

  /** Of several names that which goes with the type that it is part of, e.g. `KeyPairStatus` in `KeyPair`. */
  #nameOf(node: SchemaNode, within: TypeName): string | undefined {
    const key = keyOf(node);
    const names = this.#names.get(key) ?? [];
    const own = names.filter(({ file }) => file === within.file);
    const [first] = own.length === 0 && key.length > foreignLength ? names : own;
    return (own.find(({ name }) => name.startsWith(within.name)) ?? first)?.name;
  }

  #arrayType(items: SchemaNode, within: TypeName): string {
    const type = this.#type(items, within);
    const isUnion = items.nullable || items.enum || items['x-kubernetes-int-or-string'] === true;
    return `readonly ${isUnion ? `(${type})` : type}[]`;
  }

  #objectType(node: SchemaNode, within: TypeName): string {
    const { properties, additionalProperties } = node;
    if (properties) return `{\n${this.#fields(node, within)}}`;
    if (typeof additionalProperties === 'object')
      return `Readonly<Record<string, ${this.#type(additionalProperties, within)}>>`;
    return node['x-kubernetes-preserve-unknown-fields'] === true
      ? 'ObjectMeta'
      : 'Readonly<Record<string, unknown>>';
  }
}

const scalarTypes: Readonly<Record<string, string>> = {
  integer: 'number',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
};

function keyOf({
  description: _description,
  nullable: _nullable,
  default: _default,
  ...rest
}: SchemaNode): string {
  return rest.properties ? JSON.stringify(rest) : '';
}

/** Only the first sentence: the whole text is what `kubectl explain` shows. */
function comment(description: string | undefined): string {
  const text = description?.replaceAll(/\s+/g, ' ').trim() ?? '';
  const first = /^.*?[.!?](?=\s|$)|^.*$/s.exec(text)?.[0] ?? '';
  return first === '' ? '' : `/** ${first.replaceAll('*/', '* /')} */\n`;
}

function indented(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('}')) depth -= 1;
    const result = `${'  '.repeat(depth)}${line}`;
    if (line.endsWith('{')) depth += 1;
    return result;
  });
  return lines.join('\n');
}
