import type { KubeObject } from '@sheaf/api';
import { toError } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import { again, type ReconcileResult } from '@sheaf/runtime';
import type { Owner } from './owned-objects.ts';
import type { OwnedPods } from './owned-pods.ts';
import { recheck } from './recheck.ts';
import type { History, HistoryOwner, RevisionHistory } from './revision-history.ts';

export interface RevisionedParts {
  readonly client: Client;
  readonly pods: OwnedPods;
  readonly history: RevisionHistory;
}

/** What is special about one kind whose templates are kept as revisions. */
export interface RevisionedPlan<Facts, Step extends { readonly action: string }> {
  readonly owner: Owner & { readonly object: HistoryOwner };
  readonly read: (history: History) => Promise<Facts>;
  readonly plan: (facts: Facts) => Step;
  /** How long the step has to wait; 0: it is taken now. */
  readonly restMs?: (step: Step) => number;
  readonly take: (facts: Facts, step: Step) => Promise<void>;
  /** The object with a status that is right; `undefined` if it has one. */
  readonly status: (facts: Facts, history: History) => KubeObject | undefined;
  /** Names of revisions that are still needed. */
  readonly used: (facts: Facts, history: History) => ReadonlySet<string>;
  readonly recheckInMs: (facts: Facts) => number | undefined;
}

const usualHistory = 10;

/** One pass: the template is noted as a revision, one step is taken, the status is written; old revisions go when nothing is left to do. */
export async function reconcileRevisioned<Facts, Step extends { readonly action: string }>(
  { client, pods, history }: RevisionedParts,
  kind: RevisionedPlan<Facts, Step>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { object, resource } = kind.owner;
  const revisions = await history.record(kind.owner, signal);
  const before = await kind.read(revisions);
  const step = kind.plan(before);
  const restMs = kind.restMs?.(step) ?? 0;
  const problem = restMs > 0 ? undefined : await kind.take(before, step).then(() => undefined, toError);
  const facts = await kind.read(revisions);
  const next = kind.status(facts, revisions);
  if (next) await client.updateStatus(resource, next, { signal });
  if (problem) throw problem;
  if (restMs > 0) return again(restMs);
  if (step.action !== 'none') return again(0);
  const limit = object.spec.revisionHistoryLimit ?? usualHistory;
  await history.prune(revisions, { limit, used: kind.used(facts, revisions) }, signal);
  return recheck(kind.recheckInMs(facts), pods.doubtInMs);
}
