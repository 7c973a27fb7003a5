import { mapChildren, type SchemaNode } from './json-schema.ts';

interface Interned {
  /** Children that are worth it are references to other keys. */
  readonly node: SchemaNode;
  readonly name: string;
  uses: number;
}

/** Shorter nodes are written where they stand. */
const shareableLength = 80;

/** Finds the same nodes in many schemas, so that each is written once. */
export class SharedSchemas {
  readonly #interned = new Map<string, Interned>();
  /** The name of each schema by its key. */
  readonly #roots = new Map<string, string>();
  /** By the key of the node. */
  readonly #names = new Map<string, string>();

  /** The name under which the schema is written: `name` unless there was the same one before. */
  addRoot(name: string, schema: SchemaNode): string {
    const key = this.#intern(schema, name);
    const known = this.#roots.get(key) ?? name;
    this.#roots.set(key, known);
    return known;
  }

  /** Each schema by its name. A node that is used once stands in its user. */
  components(): ReadonlyMap<string, SchemaNode> {
    const components = new Map<string, SchemaNode>();
    const counts = new Map<string, number>();
    for (const [key, { name, uses }] of this.#interned) {
      if (uses < 2) continue;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      this.#names.set(key, `${name}.${count}`);
    }
    for (const [key, name] of this.#roots) components.set(name, this.#written(key));
    for (const [key, name] of this.#names) components.set(name, this.#written(key));
    return components;
  }

  #intern(node: SchemaNode, name: string): string {
    const own = mapChildren(node, (child, field) => this.#reference(child, /^\w/.test(field) ? field : name));
    const key = JSON.stringify(own);
    if (!this.#interned.has(key)) {
      this.#interned.set(key, { node: own, name, uses: 0 });
      for (const child of childKeys(own)) this.#use(child);
    }
    return key;
  }

  #reference(node: SchemaNode, name: string): SchemaNode {
    const key = this.#intern(node, name);
    return key.length < shareableLength ? node : { $ref: key };
  }

  #use(key: string): void {
    const interned = this.#interned.get(key);
    if (interned) interned.uses += 1;
  }

  #written(key: string): SchemaNode {
    const interned = this.#interned.get(key);
    if (!interned) throw new Error(`no such schema: ${key}`);
    return mapChildren(interned.node, ({ $ref, ...rest }) => {
      if ($ref === undefined) return rest;
      const name = this.#names.get($ref);
      return name === undefined ? this.#written($ref) : { $ref: name };
    });
  }
}

function childKeys(node: SchemaNode): string[] {
  const keys: string[] = [];
  mapChildren(node, (child) => {
    if (child.$ref !== undefined) keys.push(child.$ref);
    return child;
  });
  return keys;
}
