import { type Disposable, disposable } from '@sheaf/base';
import type { StreamSink } from '../pipeline/api-request.ts';
import type { Resource } from '../registry/resource.ts';
import type { Representation, WatchEventType } from '../representation/representation.ts';
import { ServedObject, serveEntries, serveEntry } from '../representation/served-object.ts';
import type { Entry, EntryChange } from '../storage/entry.ts';
import type { ResourceStore } from '../storage/resource-store.ts';
import type { Selection } from './selection.ts';

/** A watcher that has not taken this much is ended; it resumes from its last version. */
const queueLimitBytes = 16 * 1024 * 1024;

export interface WatchStreamOptions {
  readonly resource: Resource;
  readonly selection: Selection;
  readonly namespace: string | undefined;
  readonly representation: Representation;
  readonly sink: StreamSink;
}

/** Turns changes of a resource into the events of one watcher, in order. */
export class WatchStream implements Disposable {
  readonly #options: WatchStreamOptions;
  readonly #stop = new AbortController();
  #isFirst = true;
  #isReady = false;
  /** Changes that wait for a conversion of an earlier one; `undefined` while none does. */
  #pending: Promise<void> | undefined;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  /** Aborted when the watch has ended. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  dispose(): void {
    this.#stop.abort();
  }

  /** Sends the present state as ADDED events; resolves with the revision it shows. */
  async sendState(store: ResourceStore): Promise<number> {
    const { resource, selection, namespace } = this.#options;
    const { revision } = store;
    const selected: Entry[] = [];
    for (const entry of store.entries(namespace)) {
      if (selection.isEverything || selection.matches(entry.object)) selected.push(entry);
    }
    for (const served of await serveEntries(resource, selected)) this.#send('ADDED', served);
    return revision;
  }

  /** Sends every change after `revision`. */
  async follow(store: ResourceStore, revision: number): Promise<Disposable> {
    const subscription = await store.watch(revision, (change) => this.#receive(change));
    this.#isReady = true;
    return disposable(() => subscription.dispose());
  }

  /** Only once the initial state is complete: a bookmark promises that everything before it has been sent. */
  sendBookmark(revision: number, annotations?: Record<string, string>): void {
    if (this.signal.aborted || (!this.#isReady && !annotations) || this.#pending) return;
    this.#options.sink.write(
      this.#options.representation.bookmark(String(revision), annotations, this.#isFirst),
    );
    this.#isFirst = false;
  }

  #receive(change: EntryChange): void {
    if (this.signal.aborted) return;
    const event = this.#eventOf(change);
    if (!event) return;
    const { resource } = this.#options;
    if (resource.strategy.servesStoredBytes && !this.#pending) this.#sendShared(change, event);
    else this.#enqueue(event);
  }

  #enqueue(event: WatchEvent): void {
    const sent = (this.#pending ?? Promise.resolve()).then(async () => {
      const served = await serveEntry(this.#options.resource, event.entry);
      if (!this.signal.aborted) this.#send(event.type, served);
    });
    const guarded = sent.catch(() => this.#options.sink.end());
    this.#pending = guarded;
    void guarded.then(() => {
      if (this.#pending === guarded) this.#pending = undefined;
    });
  }

  /** What the change is to this watcher: an object that begins or ends to match is added or deleted. */
  #eventOf(change: EntryChange): WatchEvent | undefined {
    const { entry, previous } = change;
    const isNow = entry !== undefined && this.#matches(entry);
    const wasBefore = previous !== undefined && this.#matches(previous);
    if (isNow) return { type: wasBefore ? 'MODIFIED' : 'ADDED', entry };
    if (!wasBefore || !change.lastState) return undefined;
    return { type: 'DELETED', entry: change.lastState };
  }

  #matches(entry: Entry): boolean {
    const { selection, namespace } = this.#options;
    if (namespace !== undefined && entry.namespace !== namespace) return false;
    if (selection.isEverything) return true;
    if (selection.name !== undefined && entry.name !== selection.name) return false;
    return selection.matches(entry.object);
  }

  /** The frame is made once for all watchers that want the same. */
  #sendShared(change: EntryChange, event: WatchEvent): void {
    const { resource, representation } = this.#options;
    const isFirst = this.#isFirst && representation.marksFirstFrame;
    const key = `${event.type} ${representation.key}${isFirst ? ' first' : ''}`;
    this.#write(
      change.frame(key, () =>
        representation.frame(event.type, ServedObject.stored(resource, event.entry), isFirst),
      ),
    );
  }

  #send(type: WatchEventType, served: ServedObject): void {
    this.#write(this.#options.representation.frame(type, served, this.#isFirst));
  }

  #write(frame: Uint8Array): void {
    const { sink } = this.#options;
    this.#isFirst = false;
    sink.write(frame);
    if (sink.queuedBytes > queueLimitBytes) sink.end();
  }
}

interface WatchEvent {
  readonly type: WatchEventType;
  readonly entry: Entry;
}
