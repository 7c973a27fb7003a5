import { asJson, asObject, type KubeObject, toApiVersion } from '@sheaf/api';
import type { AdmissionChain } from '@sheaf/apiserver/admission/chain';
import type { AdmissionOperation, AdmissionRequest } from '@sheaf/apiserver/admission/plugin';
import type { DeleteOptions } from '@sheaf/apiserver/options/delete-options';
import type { Resource } from '@sheaf/apiserver/registry/resource';
import {
  checkChange,
  checkPreconditions,
  deletionErrors,
  isFinished,
  restoreSystemFields,
} from '@sheaf/apiserver/verbs/change-rules';
import { checkNew } from '@sheaf/apiserver/verbs/create';
import { checkDeletionPreconditions, deletableCopy, isPod, tellsHaste } from '@sheaf/apiserver/verbs/delete';
import { planDeletion } from '@sheaf/apiserver/verbs/deletion';
import { alreadyExists, notFound } from '@sheaf/apiserver/verbs/errors';
import { generateName, prepareNewMetadata } from '@sheaf/apiserver/verbs/new-metadata';
import { dropRepeatedOwners } from '@sheaf/apiserver/verbs/owner-references';
import { timestamp } from '@sheaf/apiserver/verbs/write-parts';
import {
  type Clock,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonClone,
  jsonEqual,
  type Random,
} from '@sheaf/base';
import type { InProcessUser } from '@sheaf/client';
import type { KeptKind, KeptObjects } from './kept-objects.ts';

export interface LeanWriteParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly kept: KeptObjects;
  readonly admission: AdmissionChain;
}

/** Who writes to what. */
export interface LeanSubject {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly user: InProcessUser;
}

/** What a deletion has led to. */
export type LeanDeletion =
  | { readonly isGone: true; readonly last: KubeObject }
  | { readonly isGone: false; readonly object: KubeObject };

/** Makes the next state of an object, which shares nothing with `current`. */
export type NextState = (current: KubeObject) => KubeObject;

const noWarnings = { add: () => undefined } as never;
const never = new AbortController().signal;

/** Writes as the API server makes them, by its own rules, without bytes and without booking who set which field. */
export class LeanWrites {
  readonly #parts: LeanWriteParts;
  readonly #kinds = new Map<Resource, KeptKind>();

  constructor(parts: LeanWriteParts) {
    this.#parts = parts;
  }

  /** A client's value as a new object of a resource, which belongs to the caller. */
  conform({ resource, namespace }: LeanSubject, value: unknown): KubeObject {
    const { group, version, kind, strategy } = resource;
    const identity = { kind, apiVersion: toApiVersion(group, version) };
    const sent = definedFields({ ...(value as JsonObject), ...identity });
    const { object } = strategy.conform(asObject(sent));
    if (namespace !== '') object.metadata.namespace = namespace;
    return object;
  }

  async create(subject: LeanSubject, value: unknown): Promise<KubeObject> {
    const { resource } = subject;
    const { kept, random, admission } = this.#parts;
    const sent = this.conform(subject, value);
    prepareNewMetadata(sent, { ...this.#parts, admission });
    dropRepeatedOwners(sent, noWarnings);
    const generated = sent.metadata.name ? undefined : sent.metadata.generateName;
    if (generated) sent.metadata.name = generateName(generated, random);
    resource.strategy.applyDefaults(sent);
    resource.strategy.prepareForCreate(sent);
    resource.strategy.applyDefaults(sent);
    const object = await this.#admitNew(subject, sent);
    const kind = this.kindOf(resource);
    const { namespace = '', name = '' } = object.metadata;
    const existing = kind.get(namespace, name);
    if (existing) throw alreadyExists(resource, name, existing.metadata.deletionTimestamp !== undefined);
    return kept.put(kind, object);
  }

  async #admitNew(subject: LeanSubject, sent: KubeObject): Promise<KubeObject> {
    const { resource } = subject;
    const { admission } = this.#parts;
    const request = admissionRequest(subject, 'CREATE', { object: sent, old: undefined });
    const { uid = '', creationTimestamp = null } = sent.metadata;
    await admission.mutate(request);
    let object = request.object ?? sent;
    if (object !== sent) {
      object = resource.strategy.conform(object).object;
      resource.strategy.applyDefaults(object);
      Object.assign(object.metadata, { uid, creationTimestamp });
      request.object = object;
    }
    checkNew(resource, object);
    await admission.validate(request);
    return owned(object);
  }

  /** What is there afterwards, or was last. */
  async change(subject: LeanSubject, make: NextState, isPatch: boolean): Promise<KubeObject> {
    const { resource, namespace, name } = subject;
    const kind = this.kindOf(resource);
    for (;;) {
      const old = kind.get(namespace, name);
      if (!old) throw notFound(resource, name);
      const next = await this.#nextState(subject, { old, made: make(old), isPatch });
      // Someone else was faster while admission was asked.
      if (kind.get(namespace, name) !== old) continue;
      return this.#keepChange(resource, old, next);
    }
  }

  #keepChange(resource: Resource, old: KubeObject, next: KubeObject): KubeObject {
    const { kept } = this.#parts;
    const kind = this.kindOf(resource);
    if (isFinished(resource, next)) {
      kept.remove(kind, old);
      return next;
    }
    return jsonEqual(asJson(old), asJson(next)) ? old : kept.put(kind, next);
  }

  async #nextState(
    subject: LeanSubject,
    { old, made, isPatch }: { old: KubeObject; made: KubeObject; isPatch: boolean },
  ): Promise<KubeObject> {
    const { resource, subresource } = subject;
    const { strategy } = resource;
    const { admission } = this.#parts;
    checkPreconditions(resource, made, { old, isPatch });
    const frozen = deletionErrors(made, old);
    restoreSystemFields(made, old);
    dropRepeatedOwners(made, noWarnings);
    strategy.applyDefaults(made);
    strategy.prepareForUpdate(made, old, subresource);
    strategy.applyDefaults(made);
    const request = admissionRequest(subject, 'UPDATE', { object: made, old });
    await admission.mutate(request);
    let next = request.object ?? made;
    if (next !== made) {
      next = strategy.conform(next).object;
      restoreSystemFields(next, old);
      strategy.prepareForUpdate(next, old, subresource);
      strategy.applyDefaults(next);
      request.object = next;
    }
    checkChange(resource, next, { old, subresource, frozen });
    await admission.validate(request);
    return owned(next);
  }

  async delete(subject: LeanSubject, options: DeleteOptions): Promise<LeanDeletion> {
    const { resource, namespace, name } = subject;
    const { admission, kept } = this.#parts;
    const kind = this.kindOf(resource);
    for (;;) {
      const old = kind.get(namespace, name);
      if (!old) throw notFound(resource, name);
      checkDeletionPreconditions(resource, old, options);
      const request = admissionRequest(subject, 'DELETE', { object: undefined, old });
      await admission.mutate(request);
      await admission.validate(request);
      if (kind.get(namespace, name) !== old) continue;
      const step = this.#planDeletion(resource, old, options);
      switch (step.action) {
        case 'remove':
          kept.remove(kind, old);
          return { isGone: true, last: old };
        case 'keep':
          return { isGone: false, object: old };
        case 'mark':
          return { isGone: false, object: kept.put(kind, step.object) };
      }
    }
  }

  #planDeletion(
    resource: Resource,
    old: KubeObject,
    { propagation, gracePeriodSeconds }: DeleteOptions,
  ): ReturnType<typeof planDeletion> {
    const { clock } = this.#parts;
    const copy = deletableCopy(resource, old);
    return planDeletion(copy, {
      propagation,
      defaultPropagation: resource.strategy.defaultPropagation,
      gracePeriodSeconds,
      isPod: isPod(resource),
      tellsHaste: tellsHaste(resource),
      now: timestamp(clock),
      nowMs: clock.now(),
      before: old.metadata,
      isHeld: resource.strategy.isHeld?.(copy) ?? false,
    });
  }

  kindOf(resource: Resource): KeptKind {
    let kind = this.#kinds.get(resource);
    if (!kind) {
      kind = this.#parts.kept.of(resource.group, resource.plural);
      this.#kinds.set(resource, kind);
    }
    return kind;
  }
}

/** As JSON text would carry it: what is not defined is not there. */
function definedCopy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => definedCopy(item));
  return isJsonObject(value) ? definedFields(value) : value;
}

function definedFields(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key in object) {
    const field = object[key];
    if (field !== undefined) copy[key] = definedCopy(field);
  }
  return copy;
}

export function copyOf(object: KubeObject): KubeObject {
  return asObject(jsonClone(asJson(object)));
}

/** A rule may have answered with parts of what it was shown; what is kept gets a metadata of its own, where its revision is set. */
function owned(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata } };
}

function admissionRequest(
  subject: LeanSubject,
  operation: AdmissionOperation,
  { object, old }: { readonly object: KubeObject | undefined; readonly old: KubeObject | undefined },
): AdmissionRequest {
  const { resource, subresource, user, namespace, name } = subject;
  const { group, version, plural, kind, namespaced } = resource;
  return {
    operation,
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    subresource,
    namespaced,
    namespace: (object ?? old)?.metadata.namespace ?? namespace,
    name: name || (object?.metadata.name ?? ''),
    object,
    oldObject: old,
    options: {},
    dryRun: false,
    user,
    warn: () => undefined,
    annotate: () => undefined,
    signal: never,
    onEnd: () => undefined,
  };
}
