import type { GroupVersionKind, GroupVersionResource, KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { User } from '../authentication/user.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write on its way in. `object` is owned by the pipeline: mutating plugins change it in place or replace it. */
export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly namespaced: boolean;
  readonly namespace: string;
  /** May be empty on a create with generateName. */
  readonly name: string;
  /** Of a new object: what its name is made of. Until all plugins have changed it, clients are told of it by this. */
  namePrefix?: string | undefined;
  /** The object to be written; `undefined` on DELETE. */
  object: KubeObject | undefined;
  /** The stored object; `undefined` on CREATE. Never changed. */
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
  readonly user: User;
  /** Adds a `Warning: 299` header. */
  warn(text: string): void;
  /** Adds `key: value` to the audit event. */
  annotate(key: string, value: string): void;
  readonly signal: AbortSignal;
  /** Runs `task` once the write has been made or has failed, when views show its outcome: ends what was reserved. */
  onEnd(task: () => void): void;
}

/**
 * A step of admission. It refuses by throwing a StatusError whose message names the way out. `mutate` runs first, then
 * `allocate`, then the object is validated, then `validate` runs; the order of plugins is the order of their list.
 */
export interface AdmissionPlugin {
  readonly name: string;
  /** Cheap and synchronous: whether this plugin has anything to do with the request. */
  handles(request: AdmissionRequest): boolean;
  mutate?(request: AdmissionRequest, pass: MutationPass): Promise<void> | void;
  /** Fills in what the server gives out itself, such as addresses. Nothing changes the object after it. */
  allocate?(request: AdmissionRequest): void;
  validate?(request: AdmissionRequest): Promise<void> | void;
}

/**
 * One of at most two passes over the mutating plugins. The second one is made when, in the first, something has changed
 * the object after plugins that want to see what others make of it.
 */
export interface MutationPass {
  readonly round: 0 | 1;
  /** Asks for the second pass. */
  repeat(): void;
  /** What a plugin keeps from one pass to the next, made on first use. */
  memory<T>(plugin: string, make: () => T): T;
}
