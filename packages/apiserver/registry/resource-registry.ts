import { type Disposable, disposable } from '@sheaf/base';
import { ServedExtensions } from '../extension/served-extensions.ts';
import type { Resource } from './resource.ts';

/** Everything that is served, built-in and custom; discovery, routing and OpenAPI all read it. */
export class ResourceRegistry {
  /** What is served besides kept objects. */
  readonly extensions: ServedExtensions;
  readonly #resources = new Map<string, Resource>();
  readonly #listeners = new Set<() => void>();
  #version = 0;

  constructor(extensions: ServedExtensions = new ServedExtensions()) {
    this.extensions = extensions;
  }

  /** Grows with each change; what is derived from the registry is valid as long as it stays the same. */
  get version(): number {
    return this.#version;
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#resources.get(`${group}/${version}/${plural}`);
  }

  /** True for groups of the server's own kinds, whichever versions they have. */
  hasBuiltinGroup(group: string): boolean {
    for (const resource of this.#resources.values()) {
      if (resource.group === group && resource.isBuiltin) return true;
    }
    return false;
  }

  /** All versions of all resources, in the order of their registration. */
  all(): Iterable<Resource> {
    return this.#resources.values();
  }

  /** The version in which objects of a resource are kept. */
  storageVersionOf(group: string, plural: string): Resource | undefined {
    for (const resource of this.#resources.values()) {
      if (resource.group === group && resource.plural === plural && resource.isStorageVersion)
        return resource;
    }
    return undefined;
  }

  findKind(group: string, version: string, kind: string): Resource | undefined {
    for (const resource of this.#resources.values()) {
      if (resource.kind === kind && resource.group === group && resource.version === version) return resource;
    }
    return undefined;
  }

  /** Adds resources, or replaces those of the same group, version and plural. */
  add(resources: readonly Resource[]): void {
    for (const resource of resources) this.#resources.set(keyOf(resource), resource);
    this.#changed();
  }

  /** Replaces every version of one resource; an empty list takes it away. */
  replace(group: string, plural: string, versions: readonly Resource[]): void {
    for (const [key, resource] of this.#resources) {
      if (resource.group === group && resource.plural === plural) this.#resources.delete(key);
    }
    this.add(versions);
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return disposable(() => this.#listeners.delete(listener));
  }

  #changed(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }
}

function keyOf({ group, version, plural }: Resource): string {
  return `${group}/${version}/${plural}`;
}
