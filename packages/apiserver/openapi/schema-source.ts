import {
  type JsonSchema,
  jsonSchemaOf,
  openApiV2Schemas,
  openApiV3Schemas,
  type SchemaSet,
} from '@sheaf/api';
import { openApiSchemas, type PublishedSchemas } from '../custom-resource/index.ts';
import type { Resource } from '../registry/resource.ts';
import type { LiveView } from '../storage/live-view.ts';
import { definitionNameOf, metaDefinitions } from './definition-names.ts';
import { addEnumValues } from './enum-values.ts';

const prefix = '#/components/schemas/';
const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';
const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const scale = definitionNameOf({ group: 'autoscaling', version: 'v1', kind: 'Scale' });

/** Gives the definitions of kinds, built-in and custom. Built-in ones are read anew each time, as they are large and seldom asked for. */
export class SchemaSource {
  readonly #definitions: LiveView;
  /** What documents of custom resources refer to: small, and the same for all of them. */
  #shared: SchemaSet | undefined;

  constructor(definitions: LiveView) {
    this.#definitions = definitions;
  }

  /** Everything the v3 document of a group version refers to. */
  async v3(group: string, version: string, resources: readonly Resource[]): Promise<SchemaSet> {
    const custom = resources.filter(({ isBuiltin }) => !isBuiltin);
    const isMixed = custom.length < resources.length;
    const schemas: SchemaSet = isMixed ? await openApiV3Schemas({ group, version }) : {};
    await addEnumValues(schemas);
    if (custom.length === 0) return schemas;
    for (const resource of custom) Object.assign(schemas, this.#published(resource).v3);
    this.#shared ??= await readSharedSchemas();
    return inOrder({ ...this.#shared, ...schemas });
  }

  async v2(resources: Iterable<Resource>): Promise<SchemaSet> {
    const schemas = await openApiV2Schemas();
    await addEnumValues(schemas);
    for (const resource of resources) {
      if (!resource.isBuiltin) Object.assign(schemas, this.#published(resource).v2);
    }
    return inOrder(schemas);
  }

  /** Changes when the schemas of a custom resource may have changed. */
  stateOf(resource: Resource): string {
    const metadata = this.#find(resource)?.metadata;
    return `${metadata?.uid}/${metadata?.generation}`;
  }

  #published(resource: Resource): PublishedSchemas {
    const crd = this.#find(resource);
    return crd ? openApiSchemas(crd, resource.version) : { v2: {}, v3: {} };
  }

  #find({ plural, group }: Resource): ReturnType<LiveView['get']> {
    return this.#definitions.get('', `${plural}.${group}`);
  }
}

async function readSharedSchemas(): Promise<SchemaSet> {
  const { deleteOptions, patch, status } = metaDefinitions;
  const queue = [deleteOptions, patch, status, listMeta, objectMeta, scale];
  const found: SchemaSet = {};
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (Object.hasOwn(found, name)) continue;
    const schema = await jsonSchemaOf(name);
    if (schema === undefined) continue;
    found[name] = withoutOtherVersions(schema);
    collectReferences(schema, queue);
  }
  return found;
}

/** DeleteOptions and the like are kinds of every version; only the core one is told. */
function withoutOtherVersions(schema: JsonSchema): JsonSchema {
  const kinds = schema['x-kubernetes-group-version-kind'];
  if (kinds === undefined || kinds.length < 2) return schema;
  const core = kinds.filter(({ group, version }) => group === '' && version === 'v1');
  return { ...schema, 'x-kubernetes-group-version-kind': core };
}

function collectReferences(value: unknown, into: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') into.push(child.slice(prefix.length));
    else collectReferences(child, into);
  }
}

function inOrder(schemas: SchemaSet): SchemaSet {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}
