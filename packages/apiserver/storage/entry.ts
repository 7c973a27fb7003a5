import type { KubeObject } from '@sheaf/api';
import { parseStored, toServedBytes } from './object-bytes.ts';

/** One kept object at one revision. Immutable. */
export class Entry {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** JSON of the storage version without its resourceVersion; shared with the store, must not be changed. */
  readonly stored: Uint8Array;
  #parsed: WeakRef<KubeObject> | undefined;

  constructor(
    place: { readonly namespace: string; readonly name: string },
    revision: number,
    stored: Uint8Array,
  ) {
    this.namespace = place.namespace;
    this.name = place.name;
    this.revision = revision;
    this.stored = stored;
  }

  /** JSON with its resourceVersion, made anew for each who asks. */
  toBytes(): Uint8Array {
    return toServedBytes(this.stored, this.revision);
  }

  /** The parsed object, shared by all who look: it must not be changed. */
  get object(): KubeObject {
    const known = this.#parsed?.deref();
    if (known) return known;
    const parsed = this.copyObject();
    this.#parsed = new WeakRef(parsed);
    return parsed;
  }

  /** A copy that belongs to the caller. */
  copyObject(): KubeObject {
    return parseStored(this.stored, this.revision);
  }

  /** The same content under a newer revision, as the last state of a deleted object is shown. */
  at(revision: number): Entry {
    return new Entry(this, revision, this.stored);
  }
}

/** One change of a resource, in the order of revisions. */
export class EntryChange {
  readonly revision: number;
  /** The new state; `undefined` when deleted. */
  readonly entry: Entry | undefined;
  /** The state before; `undefined` when created. */
  readonly previous: Entry | undefined;
  #deleted: Entry | undefined;
  #frames: Map<string, Uint8Array> | undefined;

  constructor(revision: number, entry: Entry | undefined, previous: Entry | undefined) {
    this.revision = revision;
    this.entry = entry;
    this.previous = previous;
  }

  /** The previous content under this change's revision: what a DELETED event carries. */
  get lastState(): Entry | undefined {
    this.#deleted ??= this.previous?.at(this.revision);
    return this.#deleted;
  }

  /** The encoded event, made once for all watchers that want it in the same form. */
  frame(key: string, encode: () => Uint8Array): Uint8Array {
    this.#frames ??= new Map();
    const known = this.#frames.get(key);
    if (known) return known;
    const made = encode();
    this.#frames.set(key, made);
    return made;
  }

  /** Everybody who was there has been told: who comes later is rare and has frames made anew. */
  forgetFrames(): void {
    this.#frames = undefined;
  }
}
