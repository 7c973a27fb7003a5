import type { KubeObject } from '@sheaf/api';
import { disposable } from '@sheaf/base';
import type { LiveChange, LiveView, LiveViews } from '../storage/live-view.ts';

/** Live views over plain maps, for tests. */
export class FixtureViews implements LiveViews {
  readonly #views = new Map<string, FixtureView>();

  of(group: string, resource: string): FixtureView {
    const key = `${group}/${resource}`;
    let view = this.#views.get(key);
    if (!view) this.#views.set(key, (view = new FixtureView()));
    return view;
  }
}

export class FixtureView implements LiveView {
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<(change: LiveChange) => void>();
  version = 0;

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  list(namespace?: string): readonly KubeObject[] {
    const objects = [...this.#objects.values()];
    return namespace === undefined
      ? objects
      : objects.filter((object) => object.metadata.namespace === namespace);
  }

  onChange(listener: (change: LiveChange) => void) {
    this.#listeners.add(listener);
    return disposable(() => this.#listeners.delete(listener));
  }

  put(object: KubeObject): void {
    const { namespace = '', name = '' } = object.metadata;
    this.#apply(namespace, name, object);
  }

  remove(namespace: string, name: string): void {
    this.#apply(namespace, name, undefined);
  }

  #apply(namespace: string, name: string, object: KubeObject | undefined): void {
    const key = `${namespace}/${name}`;
    const previous = this.#objects.get(key);
    if (object) this.#objects.set(key, object);
    else this.#objects.delete(key);
    this.version++;
    for (const listener of this.#listeners) listener({ namespace, name, object, previous });
  }
}
