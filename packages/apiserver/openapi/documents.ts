import { createHash } from 'node:crypto';
import { openApiDataDigest } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import type { LiveView } from '../storage/live-view.ts';
import { groupVersionRoot } from './operation-names.ts';
import { PackedDocument } from './packed-document.ts';
import { ParameterCatalogue } from './parameters.ts';
import { resourcePaths } from './resource-paths.ts';
import { rootPath } from './root-path.ts';
import { SchemaSource } from './schema-source.ts';
import { v2Document } from './v2-document.ts';
import { v3Document } from './v3-document.ts';

/** How a document is written: as JSON or in the protobuf form of its version. */
export type DocumentEncoding = 'json' | 'protobuf';

export interface DocumentHandle {
  /** Upper-case hex; the same as long as the document is the same. */
  readonly hash: string;
  load(encoding: DocumentEncoding): Promise<PackedDocument>;
}

export interface DocumentsOptions {
  readonly registry: ResourceRegistry;
  /** The CustomResourceDefinitions. */
  readonly definitions: LiveView;
  readonly encodeV2: (document: JsonObject) => Uint8Array;
  readonly encodeV3: (document: JsonObject) => Uint8Array;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: Resource[];
}

interface Made {
  readonly hash: string;
  readonly documents: Map<DocumentEncoding, Promise<PackedDocument>>;
}

/**
 * The OpenAPI documents of everything that is served. Each is made when it is first asked for and kept, compressed,
 * until what it describes changes.
 */
export class OpenApiDocuments {
  readonly #options: DocumentsOptions;
  readonly #schemas: SchemaSource;
  /** By path below `/openapi/v3/`. */
  readonly #groupVersions = new Map<string, GroupVersion>();
  readonly #made = new Map<string, Made>();
  #handles = new Map<string, DocumentHandle>();
  #catalogue: Promise<ParameterCatalogue> | undefined;
  #index: Uint8Array | undefined;
  #version = -1;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    this.#schemas = new SchemaSource(options.definitions);
  }

  /** The list of the v3 documents: ours, and those of others, hashes by path. */
  index(others: ReadonlyMap<string, string> = none): Uint8Array {
    this.#refresh();
    if (others.size > 0) return this.#listed(others);
    this.#index ??= this.#listed(others);
    return this.#index;
  }

  #listed(others: ReadonlyMap<string, string>): Uint8Array {
    const own = [...this.#handles].map(([path, { hash }]) => [path, hash] as const);
    const all = [...new Map([...others, ...own])].sort(([a], [b]) => (a < b ? -1 : 1));
    const paths = Object.fromEntries(
      all.map(([path, hash]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
    );
    return Buffer.from(JSON.stringify({ paths }));
  }

  /** By the path below `/openapi/v3/`, e.g. `apis/apps/v1`. */
  find(path: string): DocumentHandle | undefined {
    this.#refresh();
    return this.#handles.get(path);
  }

  /** The one document of version 2. */
  all(): DocumentHandle {
    this.#refresh();
    const hashes = [...this.#handles].map(([path, { hash }]) => `${path} ${hash}`);
    return this.#handle('v2', hashOf(hashes.join('\n')), () => this.#makeV2());
  }

  #refresh(): void {
    const { registry } = this.#options;
    if (registry.version === this.#version) return;
    this.#version = registry.version;
    this.#groupVersions.clear();
    for (const resource of registry.all()) this.#add(resource);
    const paths = [...this.#groupVersions.keys()].sort();
    this.#handles = new Map(paths.map((path) => [path, this.#handleOf(path)]));
    for (const key of this.#made.keys()) if (key !== 'v2' && !this.#handles.has(key)) this.#made.delete(key);
    this.#index = undefined;
  }

  #add(resource: Resource): void {
    const { group, version } = resource;
    const path = groupVersionRoot(group, version).slice(1);
    const known = this.#groupVersions.get(path);
    if (known) known.resources.push(resource);
    else this.#groupVersions.set(path, { group, version, resources: [resource] });
  }

  #handleOf(path: string): DocumentHandle {
    const resources = this.#groupVersions.get(path)?.resources ?? [];
    const states = resources.map((resource) => this.#stateOf(resource));
    return this.#handle(path, hashOf(`${openApiDataDigest()} ${path}\n${states.join('\n')}`), () =>
      this.#makeV3(path),
    );
  }

  #stateOf(resource: Resource): string {
    const { plural, kind, isBuiltin, subresources } = resource;
    const names = [...subresources.keys()].join(',');
    return `${plural} ${kind} ${names} ${isBuiltin ? '' : this.#schemas.stateOf(resource)}`;
  }

  #handle(key: string, hash: string, make: () => Promise<JsonObject>): DocumentHandle {
    return { hash, load: (encoding) => this.#load(key, hash, { encoding, make }) };
  }

  #load(
    key: string,
    hash: string,
    { encoding, make }: { readonly encoding: DocumentEncoding; readonly make: () => Promise<JsonObject> },
  ): Promise<PackedDocument> {
    let made = this.#made.get(key);
    if (made?.hash !== hash) this.#made.set(key, (made = { hash, documents: new Map() }));
    let document = made.documents.get(encoding);
    if (!document) {
      document = make().then((content) => PackedDocument.of(this.#encode(key, encoding, content)));
      made.documents.set(encoding, document);
      const { documents } = made;
      document.catch(() => documents.delete(encoding));
    }
    return document;
  }

  #encode(key: string, encoding: DocumentEncoding, content: JsonObject): Uint8Array {
    if (encoding === 'json') return Buffer.from(JSON.stringify(content));
    return key === 'v2' ? this.#options.encodeV2(content) : this.#options.encodeV3(content);
  }

  async #makeV3(path: string): Promise<JsonObject> {
    const { group, version, resources } = this.#groupVersions.get(path) ?? emptyGroupVersion;
    this.#catalogue ??= ParameterCatalogue.load();
    const catalogue = await this.#catalogue;
    const isCustom = resources.every(({ isBuiltin }) => !isBuiltin);
    const paths = resources.flatMap((resource) => resourcePaths(resource, catalogue));
    if (!isCustom) paths.push(rootPath(group, version));
    const info = isCustom ? customInfo : builtinInfo;
    return v3Document({
      ...info,
      paths: sortedPaths(paths),
      schemas: await this.#schemas.v3(group, version, resources),
    });
  }

  async #makeV2(): Promise<JsonObject> {
    this.#catalogue ??= ParameterCatalogue.load();
    const catalogue = await this.#catalogue;
    const resources = [...this.#options.registry.all()];
    const paths = resources.flatMap((resource) => resourcePaths(resource, catalogue));
    for (const { group, version } of this.#groupVersions.values()) paths.push(rootPath(group, version));
    return v2Document({ paths: sortedPaths(paths), definitions: await this.#schemas.v2(resources) });
  }
}

const none: ReadonlyMap<string, string> = new Map();
const emptyGroupVersion: GroupVersion = { group: '', version: '', resources: [] };
const builtinInfo = { title: 'Kubernetes', version: 'unversioned' };
const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };

function sortedPaths<T extends { readonly path: string }>(paths: readonly T[]): readonly T[] {
  return [...paths].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function hashOf(text: string): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase();
}
