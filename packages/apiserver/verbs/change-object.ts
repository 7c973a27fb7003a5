import { asJson, asObject, type FieldError, type KubeObject } from '@sheaf/api';
import { DisposableStore, jsonClone } from '@sheaf/base';
import { withoutTimeOnlyChange } from '../managed-fields/index.ts';
import { managerName, toOptionsObject, type WriteOptions } from '../options/write-options.ts';
import { headerOf, type ResourceContext } from '../pipeline/request-context.ts';
import type { Resource, Subresource } from '../registry/resource.ts';
import { ServedObject, serveEntry } from '../representation/served-object.ts';
import type { Entry } from '../storage/entry.ts';
import type { Attempt, Place } from '../storage/resource-store.ts';
import {
  checkChange,
  checkPreconditions,
  deletionErrors,
  isFinished,
  restoreSystemFields,
} from './change-rules.ts';
import { storeOf } from './create.ts';
import { notFound } from './errors.ts';
import { dropRepeatedOwners } from './owner-references.ts';
import { bookOwnership } from './ownership.ts';
import { admissionRequest, type WriteParts } from './write-parts.ts';

export interface ChangeInput {
  readonly place: Place;
  readonly options: WriteOptions;
  readonly parts: WriteParts;
  readonly optionsKind: 'UpdateOptions' | 'PatchOptions';
  /** '' for the object itself, or the subresource whose rules apply. */
  readonly subresource: string;
  readonly subresourceKind?: Subresource;
  /**
   * The next object, conformed to the resource's version. `current` is a copy of the newest state, which it may keep or
   * change. Called again when someone else was faster.
   */
  make(current: KubeObject): KubeObject | Promise<KubeObject>;
  /** Set when `make` books the fields itself, as server-side apply does. */
  readonly isOwned?: boolean;
}

/** The way of every change, from whichever verb. @throws StatusError 404, 409, 422 and what admission refuses with */
export async function changeObject(
  context: ResourceContext,
  resource: Resource,
  input: ChangeInput,
): Promise<ServedObject> {
  let rehearsed: ServedObject | undefined;
  let last: KubeObject | undefined;
  const lifetime = new DisposableStore();
  const said = context.warnings.mark();
  const attempt = async (entry: Entry): Promise<Attempt> => {
    // What was said of a state that is not the newest any more may be untrue.
    context.warnings.returnTo(said);
    const next = await nextObject(context, resource, { ...input, entry, lifetime });
    last = next;
    if (!input.options.dryRun) return attemptFor(resource, next, entry);
    rehearsed = ServedObject.fresh(resource, next);
    return { keep: true };
  };
  const result = await storeOf(resource)
    .change(input.place, attempt)
    .finally(() => lifetime.dispose());
  if (!result) throw notFound(resource, input.place.name);
  if (rehearsed) return rehearsed;
  // A removal answers what was written last, under the version that the object had.
  if (result.outcome === 'removed' && last) return ServedObject.fresh(resource, last);
  return serveEntry(resource, result.outcome === 'removed' ? result.before : result.entry);
}

async function attemptFor(resource: Resource, next: KubeObject, entry: Entry): Promise<Attempt> {
  if (isFinished(resource, next)) return { remove: true };
  if (onlyTimesDiffer((await serveEntry(resource, entry)).object, next)) return { keep: true };
  return { write: await resource.strategy.toStorage(next) };
}

/** Booking the same fields anew is no change. */
function onlyTimesDiffer(old: KubeObject, next: KubeObject): boolean {
  return withoutTimeOnlyChange(old, next) === old;
}

async function nextObject(
  context: ResourceContext,
  resource: Resource,
  input: ChangeInput & { entry: Entry; lifetime: DisposableStore },
): Promise<KubeObject> {
  const { strategy } = resource;
  const old = (await serveEntry(resource, input.entry)).object;
  const made = await input.make(asObject(jsonClone(asJson(old))));
  checkPreconditions(resource, made, {
    old,
    isPatch: input.optionsKind === 'PatchOptions' && !input.isOwned,
  });
  const frozen = deletionErrors(made, old);
  restoreSystemFields(made, old);
  dropRepeatedOwners(made, context.warnings);
  if (!input.isOwned) bookAsSent(context, resource, { ...input, made, old });
  strategy.prepareForUpdate(made, old, input.subresource);
  strategy.applyDefaults(made);
  const next = await admitChange(context, resource, { ...input, made, old, frozen });
  for (const text of strategy.warnings(next, old)) context.warnings.add(text);
  return next;
}

/** What the client has sent and its defaults are its own; what the kind or admission adds after that is nobody's. */
function bookAsSent(
  context: ResourceContext,
  resource: Resource,
  { made, old, options, parts, subresource }: ChangeInput & { made: KubeObject; old: KubeObject },
): void {
  resource.strategy.applyDefaults(made);
  const manager = managerName(options, headerOf(context.request, 'user-agent'));
  bookOwnership({ resource, manager, subresource, clock: parts.clock }, old, made);
}

async function admitChange(
  context: ResourceContext,
  resource: Resource,
  input: ChangeInput & {
    made: KubeObject;
    old: KubeObject;
    frozen: readonly FieldError[];
    lifetime: DisposableStore;
  },
): Promise<KubeObject> {
  const { strategy } = resource;
  const { old, parts, options, lifetime } = input;
  const request = admissionRequest(context, resource, {
    operation: 'UPDATE',
    object: input.made,
    oldObject: old,
    options: toOptionsObject(options, input.optionsKind),
    dryRun: options.dryRun,
    name: input.place.name,
    lifetime,
    ...(input.subresourceKind ? { subresource: input.subresourceKind } : {}),
  });
  await parts.admission.mutate(request);
  let next = request.object ?? input.made;
  if (next !== input.made) {
    next = strategy.conform(next).object;
    restoreSystemFields(next, old);
    strategy.prepareForUpdate(next, old, input.subresource);
    strategy.applyDefaults(next);
    request.object = next;
  }
  parts.admission.allocate(request);
  checkChange(resource, next, { old, subresource: input.subresource, frozen: input.frozen });
  await parts.admission.validate(request);
  return next;
}
