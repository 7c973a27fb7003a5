import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '@sheaf/api';
import {
  type Clock,
  type Disposable,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonEqual,
  type Logger,
  toError,
} from '@sheaf/base';
import {
  type DefinitionCondition,
  type NamePlan,
  planNames,
  readDefinition,
} from '../../custom-resource/index.ts';
import type { LiveView } from '../../storage/live-view.ts';
import type { Attempt, ResourceStore } from '../../storage/resource-store.ts';
import type { ResourceStores } from '../../storage/resource-stores.ts';
import { timestamp } from '../../verbs/write-parts.ts';

export interface DefinitionStatusOptions {
  readonly stores: ResourceStores;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Decides which names each CustomResourceDefinition gets and writes it into its status, as soon as the definition or
 * one that holds a name changes. What is Established in a status is served.
 */
export class DefinitionStatus implements Disposable {
  readonly #options: DefinitionStatusOptions;
  readonly #view: LiveView;
  readonly #store: ResourceStore;
  /** Writes go one after the other: each decides on the outcome of the one before. */
  #last: Promise<void> = Promise.resolve();
  #subscription: Disposable | undefined;

  constructor(options: DefinitionStatusOptions) {
    this.#options = options;
    this.#view = options.stores.of('apiextensions.k8s.io', 'customresourcedefinitions');
    this.#store = options.stores.storeOf('apiextensions.k8s.io', 'customresourcedefinitions');
  }

  start(): void {
    for (const crd of this.#view.list()) if (!isDecided(crd)) this.#plan(crd.metadata.name ?? '');
    this.#subscription = this.#view.onChange((change) => {
      this.#plan(change.name);
      for (const other of this.#view.list()) if (isWaiting(other)) this.#plan(other.metadata.name ?? '');
    });
  }

  /** Resolves when every change so far has been decided on. */
  settled(): Promise<void> {
    return this.#last;
  }

  dispose(): void {
    this.#subscription?.dispose();
  }

  #plan(name: string): void {
    this.#last = this.#last
      .then(
        async () =>
          void (await this.#store.change({ namespace: '', name }, (entry) => this.#decide(entry.object))),
      )
      .catch((error: unknown) =>
        this.#options.logger.error('names of a custom resource could not be decided', {
          name,
          cause: toError(error),
        }),
      );
  }

  #decide(crd: KubeObject): Attempt {
    const others = this.#view.list().filter((other) => other.metadata.name !== crd.metadata.name);
    const status = nextStatus(crd, planNames(crd, others), timestamp(this.#options.clock));
    if (jsonEqual(status, crd['status'] as JsonValue | undefined)) return { keep: true };
    return { write: { ...crd, status } };
  }
}

/**
 * Definitions that have all the names they want, and are served. Nobody can have taken a name from them since, so that what
 * their status says holds, and a start with many of them need not read all their schemas.
 */
function isDecided(crd: KubeObject): boolean {
  const { names, acceptedNames, conditions } = readDefinition(crd);
  const isTrue = (wanted: string): boolean =>
    conditions.some(({ type, status }) => type === wanted && status === 'True');
  return isTrue('NamesAccepted') && isTrue('Established') && isDeepStrictEqual(names, acceptedNames);
}

/** Definitions that want a name which another one has. */
function isWaiting(crd: KubeObject): boolean {
  const status = crd['status'];
  const conditions = isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  return conditions.some(
    (item) => isJsonObject(item) && item['type'] === 'NamesAccepted' && item['status'] === 'False',
  );
}

function nextStatus(crd: KubeObject, plan: NamePlan, now: string): JsonObject {
  const old = isJsonObject(crd['status']) ? crd['status'] : {};
  const known = Array.isArray(old['conditions'])
    ? old['conditions'].filter((item) => isJsonObject(item))
    : [];
  const kept = known.filter((item) => item['type'] === 'Terminating');
  const conditions = plan.conditions.map((condition) => withTime(condition, known, now));
  return { ...old, acceptedNames: namesJson(plan), conditions: [...conditions, ...kept] };
}

function namesJson({ acceptedNames }: NamePlan): JsonObject {
  const { plural, singular, kind, listKind, shortNames, categories } = acceptedNames;
  return {
    plural,
    ...(singular ? { singular } : {}),
    ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
    kind,
    ...(listKind ? { listKind } : {}),
    ...(categories.length > 0 ? { categories: [...categories] } : {}),
  };
}

/** A condition keeps its time as long as its status stays. */
function withTime(condition: DefinitionCondition, known: readonly JsonObject[], now: string): JsonObject {
  const old = known.find((item) => item['type'] === condition.type);
  const { type, status, reason, message } = condition;
  const isSame = old?.['status'] === status;
  return {
    type,
    status,
    lastTransitionTime: isSame ? (old['lastTransitionTime'] ?? now) : now,
    reason,
    message,
  };
}
