import type { KubeObject } from '@sheaf/api';
import type { ControllerRevision, PodTemplateSpec } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { planHistory, surplusRevisions } from './controller-revision.ts';
import { type OwnedObjects, type Owner, referenceTo } from './owned-objects.ts';
import { claimsOf } from './ownership.ts';

/** An object whose templates are kept. */
export type HistoryOwner = KubeObject & {
  readonly spec: {
    readonly selector: Parameters<typeof claimsOf>[0]['spec']['selector'] & object;
    readonly template: PodTemplateSpec;
    readonly revisionHistoryLimit?: number;
  };
  readonly status?: { readonly collisionCount?: number };
};

export interface History {
  /** The revision of the template as it is now. */
  readonly update: ControllerRevision;
  /** All of them, the newest one too. */
  readonly revisions: readonly ControllerRevision[];
  readonly collisionCount: number;
}

/** The templates that an object has had, as ControllerRevisions. */
export class RevisionHistory {
  readonly #revisions: OwnedObjects<ControllerRevision>;
  readonly #hashLabel: string;

  /** `hashLabel`: where revisions of this kind of owner say which template they are of. */
  constructor(revisions: OwnedObjects<ControllerRevision>, hashLabel: string) {
    this.#revisions = revisions;
    this.#hashLabel = hashLabel;
  }

  /** Sees that the template as it is now is the newest revision. */
  async record(owner: Owner & { readonly object: HistoryOwner }, signal: AbortSignal): Promise<History> {
    const { object } = owner;
    const revisions = await this.#claimed(owner, signal);
    const collisions = object.status?.collisionCount ?? 0;
    const step = planHistory(this.#describe(object), object.spec.template, { revisions, collisions });
    if (step.action === 'none') return { update: step.current, revisions, collisionCount: collisions };
    const update =
      step.action === 'create'
        ? await this.#create(owner, step.revision, signal)
        : await this.#revisions.update(step.revision, signal);
    if (!update) return this.record(collided(owner), signal);
    const others = revisions.filter(({ metadata }) => metadata.uid !== update.metadata.uid);
    return { update, revisions: [...others, update], collisionCount: collisions };
  }

  #describe({ metadata, spec }: HistoryOwner): Parameters<typeof planHistory>[0] {
    const { namespace = '', name = '', annotations = {} } = metadata;
    const { labels = {} } = spec.template.metadata ?? {};
    return { namespace, name, labels, annotations, hashLabel: this.#hashLabel };
  }

  /** Deletes old revisions that nothing uses any more. */
  async prune(
    { revisions }: History,
    keep: { readonly limit: number; readonly used: ReadonlySet<string> },
    signal: AbortSignal,
  ): Promise<void> {
    for (const revision of surplusRevisions(revisions, keep)) await this.#revisions.delete(revision, signal);
  }

  async #claimed(
    owner: Owner & { readonly object: HistoryOwner },
    signal: AbortSignal,
  ): Promise<readonly ControllerRevision[]> {
    const all = await this.#revisions.list(owner.object.metadata.namespace ?? '', signal);
    const { owned, orphans } = claimsOf(owner.object, all);
    if (orphans.length === 0) return owned;
    await this.#revisions.adopt(owner, orphans, signal);
    return [...owned, ...orphans];
  }

  /** `undefined`: another template has its name. */
  async #create(
    owner: Owner & { readonly object: HistoryOwner },
    revision: ControllerRevision,
    signal: AbortSignal,
  ): Promise<ControllerRevision | undefined> {
    try {
      const { metadata } = revision;
      return await this.#revisions.create(
        { ...revision, metadata: { ...metadata, ownerReferences: [referenceTo(owner)] } },
        signal,
      );
    } catch (error) {
      if (StatusError.is(error, 'AlreadyExists')) return undefined;
      throw error;
    }
  }
}

function collided<T extends Owner & { readonly object: HistoryOwner }>(owner: T): T {
  const { object } = owner;
  const collisionCount = (object.status?.collisionCount ?? 0) + 1;
  return { ...owner, object: { ...object, status: { ...object.status, collisionCount } } };
}
