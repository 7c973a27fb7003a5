import { type KubeObject, toApiVersion } from '@sheaf/api';
import type { Resource } from '../registry/resource.ts';
import type { Entry } from '../storage/entry.ts';
import { metadataText, toFreshBytes, withHead } from '../storage/object-bytes.ts';
import type { Place } from '../storage/resource-store.ts';

/**
 * A kept object as one version of its resource shows it: bytes where bytes will do, parsed only when someone must look
 * inside.
 */
export class ServedObject {
  readonly resource: Resource;
  readonly #entry: Entry | undefined;
  #object: KubeObject | undefined;
  #bytes: Uint8Array | undefined;

  private constructor(resource: Resource, entry: Entry | undefined, object: KubeObject | undefined) {
    this.resource = resource;
    this.#entry = entry;
    this.#object = object;
  }

  /** An object that is not kept as it is shown: converted, or made for this answer. */
  static fresh(resource: Resource, object: KubeObject): ServedObject {
    return new ServedObject(resource, undefined, object);
  }

  /** Only for resources whose strategy says `servesStoredBytes`. */
  static stored(resource: Resource, entry: Entry): ServedObject {
    return new ServedObject(resource, entry, undefined);
  }

  /** The object in the served version. Shared: must not be changed. */
  get object(): KubeObject {
    this.#object ??= this.#read();
    return this.#object;
  }

  /** JSON of the whole object, kind and apiVersion first. */
  get bytes(): Uint8Array {
    this.#bytes ??= this.#encode();
    return this.#bytes;
  }

  /** What is kept, where it is served just as it is. */
  get kept(): Entry | undefined {
    return this.resource.isStorageVersion ? this.#entry : undefined;
  }

  /** Where it is kept, or would be. */
  get place(): Place {
    if (this.#entry) return this.#entry;
    const { namespace = '', name = '' } = this.object.metadata;
    return { namespace, name };
  }

  /** JSON of the metadata. */
  get metadataText(): string {
    if (this.#entry) return metadataText(this.#entry.stored, this.#entry.revision);
    return JSON.stringify(this.object.metadata);
  }

  #read(): KubeObject {
    const kept = (this.#entry as Entry).object;
    const apiVersion = toApiVersion(this.resource.group, this.resource.version);
    return kept.apiVersion === apiVersion ? kept : { ...kept, apiVersion };
  }

  #encode(): Uint8Array {
    if (!this.#entry) return toFreshBytes(this.object);
    const kept = this.#entry.toBytes();
    if (this.resource.isStorageVersion) return kept;
    return withHead(kept, this.resource.kind, toApiVersion(this.resource.group, this.resource.version));
  }
}

/** What an entry was read as, by the resource that read it: both never change. */
const readings = new WeakMap<Resource, WeakMap<Entry, ServedObject>>();

function isServedAsKept({ strategy }: Resource, entry: Entry): boolean {
  return strategy.servesStoredBytes && entry.revision > strategy.schemaRevision;
}

/** Shows kept entries in the version of `resource`; converts all at once where that takes a conversion. */
export async function serveEntries(resource: Resource, entries: readonly Entry[]): Promise<ServedObject[]> {
  const unread = entries.filter(
    (entry) => !isServedAsKept(resource, entry) && !readings.get(resource)?.has(entry),
  );
  if (unread.length > 0) await readEntries(resource, unread);
  return entries.map((entry) => readings.get(resource)?.get(entry) ?? ServedObject.stored(resource, entry));
}

export async function serveEntry(resource: Resource, entry: Entry): Promise<ServedObject> {
  if (isServedAsKept(resource, entry)) return ServedObject.stored(resource, entry);
  const [served] = await serveEntries(resource, [entry]);
  return served ?? ServedObject.stored(resource, entry);
}

async function readEntries(resource: Resource, entries: readonly Entry[]): Promise<void> {
  const objects = await resource.strategy.fromStorage(entries.map((entry) => entry.copyObject()));
  let known = readings.get(resource);
  if (!known) readings.set(resource, (known = new WeakMap()));
  for (const [index, entry] of entries.entries()) {
    const object = objects[index];
    if (object) known.set(entry, ServedObject.fresh(resource, object));
  }
}
