import type { KubeObject } from '@sheaf/api';
import type { LiveView } from '../storage/live-view.ts';

/** Objects of a kind, each compiled once for each of its versions, in the order of their names. */
export class CompiledView<T> {
  readonly #view: LiveView;
  readonly #compile: (object: KubeObject) => T;
  #known = new Map<string, { readonly object: KubeObject; readonly compiled: T }>();
  #list: readonly T[] = [];
  #version = -1;

  constructor(view: LiveView, compile: (object: KubeObject) => T) {
    this.#view = view;
    this.#compile = compile;
  }

  /** The same list as long as nothing changes. */
  list(): readonly T[] {
    if (this.#version !== this.#view.version) this.#refresh();
    return this.#list;
  }

  find(name: string): T | undefined {
    this.list();
    return this.#known.get(name)?.compiled;
  }

  #refresh(): void {
    this.#version = this.#view.version;
    const objects = this.#view.list();
    const known = new Map<string, { readonly object: KubeObject; readonly compiled: T }>();
    for (const object of objects) {
      const name = object.metadata.name ?? '';
      const before = this.#known.get(name);
      known.set(name, before?.object === object ? before : { object, compiled: this.#compile(object) });
    }
    this.#known = known;
    this.#list = [...known.keys()].sort().flatMap((name) => known.get(name)?.compiled ?? []);
  }
}
