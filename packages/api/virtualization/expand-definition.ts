import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { KubeObject } from '../meta/object.ts';

/** A definition as it is committed: the schema of each version is the name of one of the schemas beside it. */
export interface CommittedDefinition {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: CommittedSpec;
}

export interface CommittedSpec {
  readonly group: string;
  readonly names: Readonly<Record<string, string | readonly string[]>>;
  readonly scope: string;
  readonly versions: readonly CommittedVersion[];
  readonly conversion: { readonly strategy: 'None' };
}

export interface CommittedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: string;
  readonly [field: string]: unknown;
}

/** The CustomResourceDefinition in full. Versions with the same schema share it in memory. */
export function expandDefinition(
  definition: CommittedDefinition,
  schemas: Readonly<Record<string, unknown>>,
): KubeObject {
  const { name, labels, annotations, spec } = definition;
  const expanded = new Map<string, JsonValue>();
  const schemaOf = (component: string): JsonValue => {
    const known = expanded.get(component) ?? expand({ $ref: component }, schemas);
    expanded.set(component, known);
    return known;
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name,
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
    },
    spec: {
      ...spec,
      versions: spec.versions.map(({ schema, ...version }) => ({
        ...version,
        schema: { openAPIV3Schema: schemaOf(schema) },
      })),
    },
  };
}

/** What stands beside a reference goes before what it refers to: the words of a field before those of its type. */
function expand(node: JsonValue, schemas: Readonly<Record<string, unknown>>): JsonValue {
  if (Array.isArray(node)) return node.map((item) => expand(item, schemas));
  if (!isJsonObject(node)) return node;
  const { $ref, ...own } = node;
  const base = typeof $ref === 'string' ? expand(schemas[$ref] as JsonValue, schemas) : {};
  const expanded: JsonObject = isJsonObject(base) ? { ...base } : {};
  for (const key in own) {
    const value = own[key];
    if (value !== undefined) expanded[key] = expand(value, schemas);
  }
  return expanded;
}

/** Equal for definitions that say the same. Of the metadata only what is ours counts. */
export function definitionDigest({ spec }: KubeObject): string {
  return createHash('sha256').update(canonical(spec)).digest('hex').slice(0, 16);
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join()}}`;
}
