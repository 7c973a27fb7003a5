import { asJson, type KubeObject } from '@sheaf/api';
import { type Disposable, type JsonValue, jsonEqual, type Logger, toError } from '@sheaf/base';
import { type Definition, type DefinitionVersion, readDefinition } from '../../custom-resource/index.ts';
import type { LiveView } from '../../storage/live-view.ts';
import type { ResourceStores } from '../../storage/resource-stores.ts';
import type { TableColumns } from '../../table/columns.ts';
import type { Resource, Subresource, Verb } from '../resource.ts';
import type { ResourceRegistry } from '../resource-registry.ts';
import { customStrategy, type VersionConversion } from './custom-strategy.ts';

export interface CustomResourcesOptions {
  readonly registry: ResourceRegistry;
  readonly stores: ResourceStores;
  readonly logger: Logger;
  readonly columnsOf: (version: DefinitionVersion) => TableColumns;
  readonly conversionOf: (definition: Definition, version: DefinitionVersion) => VersionConversion;
  /** Told when a resource with a scale subresource appears. */
  readonly onScalable: (resource: Resource, version: DefinitionVersion) => void;
}

const verbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];

/** What is left of a resource whose definition is being deleted. */
const lastVerbs = verbs.filter((verb) => verb !== 'create');

interface Served {
  /** That of the definition in the view, which is never changed: comparing is all that is done with it. */
  readonly spec: JsonValue | undefined;
  /** Accepted names and whether it is being deleted, as text. */
  readonly state: string;
  readonly schemaRevision: number;
}

/** Keeps the registry in step with the CustomResourceDefinitions: what is Established is served, at once. */
export class CustomResources implements Disposable {
  readonly #options: CustomResourcesOptions;
  readonly #view: LiveView;
  /** What is served, by name of the definition. */
  readonly #served = new Map<string, Served>();
  #subscription: Disposable | undefined;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    this.#view = options.stores.of('apiextensions.k8s.io', 'customresourcedefinitions');
  }

  /** Serves what is there, then follows. The view must be loaded. */
  start(): void {
    for (const crd of this.#view.list()) this.#update(crd);
    this.#subscription = this.#view.onChange((change) => {
      if (change.object) this.#update(change.object);
      else if (change.previous) this.#remove(change.previous);
    });
  }

  dispose(): void {
    this.#subscription?.dispose();
  }

  #update(crd: KubeObject): void {
    const definition = readDefinition(crd);
    if (!isEstablished(definition)) return this.#remove(crd);
    const isTerminating = crd.metadata.deletionTimestamp !== undefined;
    const spec = asJson(crd)['spec'];
    const state = JSON.stringify([definition.acceptedNames, isTerminating]);
    const before = this.#served.get(definition.name);
    const isSameSpec = before !== undefined && jsonEqual(before.spec, spec);
    if (isSameSpec && before.state === state) return;
    // Objects written since the spec was last changed have been read by it.
    const schemaRevision = isSameSpec ? before.schemaRevision : Number(crd.metadata.resourceVersion ?? 0);
    try {
      const resources = definition.versions
        .filter((version) => version.served)
        .map((version) => this.#makeResource(definition, version, schemaRevision))
        // Its objects are being deleted: there will be no new ones.
        .map((resource) => (isTerminating ? { ...resource, verbs: lastVerbs } : resource));
      this.#options.registry.replace(definition.group, definition.names.plural, resources);
      this.#served.set(definition.name, { spec, state, schemaRevision });
    } catch (error) {
      this.#options.logger.error('custom resource cannot be served', {
        name: definition.name,
        cause: toError(error),
      });
    }
  }

  #remove(crd: KubeObject): void {
    const definition = readDefinition(crd);
    if (this.#served.delete(definition.name))
      this.#options.registry.replace(definition.group, definition.names.plural, []);
  }

  #makeResource(definition: Definition, version: DefinitionVersion, schemaRevision: number): Resource {
    const { acceptedNames: names, group } = definition;
    const resource: Resource = {
      group,
      version: version.name,
      plural: names.plural,
      singular: names.singular,
      kind: names.kind,
      listKind: names.listKind,
      namespaced: definition.scope === 'Namespaced',
      shortNames: names.shortNames,
      categories: names.categories,
      verbs,
      isBuiltin: false,
      isStorageVersion: version.storage,
      subresources: subresourcesOf(definition, version),
      strategy: customStrategy({
        definition,
        version,
        schemaRevision,
        conversion: this.#options.conversionOf(definition, version),
      }),
      store: this.#options.stores.storeOf(group, names.plural),
      columns: this.#options.columnsOf(version),
      ...deprecation(definition, version),
    };
    if (version.scale) this.#options.onScalable(resource, version);
    return resource;
  }
}

function isEstablished(definition: Definition): boolean {
  return definition.conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}

function deprecation(definition: Definition, version: DefinitionVersion): { deprecationWarning?: string } {
  if (!version.deprecated) return {};
  const usual = `${definition.group}/${version.name} ${definition.names.kind} is deprecated`;
  return { deprecationWarning: version.deprecationWarning ?? usual };
}

function subresourcesOf(
  { group, names }: Definition,
  version: DefinitionVersion,
): ReadonlyMap<string, Subresource> {
  const subresources = new Map<string, Subresource>();
  const subresourceVerbs = ['get', 'patch', 'update'];
  if (version.hasStatus) {
    subresources.set('status', {
      name: 'status',
      kind: { group, version: version.name, kind: names.kind },
      verbs: subresourceVerbs,
    });
  }
  if (version.scale) {
    const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
    subresources.set('scale', { name: 'scale', kind, verbs: subresourceVerbs });
  }
  return subresources;
}
