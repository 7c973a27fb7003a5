import type { ControllerRevision, PodTemplateSpec } from '@sheaf/api/workload/index';
import { type JsonValue, jsonEqual } from '@sheaf/base';
import { templateHash } from './template-hash.ts';

/** On a pod and on a revision: which one it is of. */
export const revisionHashLabel = 'controller-revision-hash';

/** The value that tells its pods from those of other revisions. */
export function revisionHashOf({ metadata }: ControllerRevision): string {
  return metadata.labels?.['controller.kubernetes.io/hash'] ?? metadata.labels?.[revisionHashLabel] ?? '';
}

interface RevisionOwner {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of the owner: why it was changed is one of them. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The label with the hash of the template. */
  readonly hashLabel: string;
}

/** A template as the history of its owner keeps it: what `kubectl rollout undo` writes back. */
export function revisionOf(
  owner: RevisionOwner,
  template: PodTemplateSpec,
  { revision, collisions }: { readonly revision: number; readonly collisions: number },
): ControllerRevision {
  const { namespace, name, labels, annotations, hashLabel } = owner;
  const hash = templateHash(template, collisions);
  return {
    metadata: {
      namespace,
      name: `${name}-${hash}`,
      labels: { ...labels, [hashLabel]: hash },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    data: dataOf(template),
    revision,
  };
}

export function isOfTemplate({ data }: ControllerRevision, template: PodTemplateSpec): boolean {
  return jsonEqual(data as JsonValue, dataOf(template));
}

/** The template that a revision keeps. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const { spec } = data as {
    readonly spec: { readonly template: PodTemplateSpec & { readonly $patch?: string } };
  };
  const { $patch: _, ...template } = spec.template;
  return template;
}

/** Older ones first. */
export function byRevision(revisions: readonly ControllerRevision[]): readonly ControllerRevision[] {
  return revisions.toSorted(
    (a, b) => a.revision - b.revision || (a.metadata.name ?? '').localeCompare(b.metadata.name ?? ''),
  );
}

/** The next step of a history towards having the template as its newest revision. */
export type HistoryStep =
  | { readonly action: 'none'; readonly current: ControllerRevision }
  | { readonly action: 'create' | 'update'; readonly revision: ControllerRevision };

export function planHistory(
  owner: RevisionOwner,
  template: PodTemplateSpec,
  {
    revisions,
    collisions,
  }: { readonly revisions: readonly ControllerRevision[]; readonly collisions: number },
): HistoryStep {
  const ordered = byRevision(revisions);
  const newest = ordered.at(-1);
  const found = ordered.findLast((each) => isOfTemplate(each, template));
  const next = (newest?.revision ?? 0) + 1;
  if (!found)
    return { action: 'create', revision: revisionOf(owner, template, { revision: next, collisions }) };
  if (found === newest) return { action: 'none', current: found };
  // Going back: an earlier revision becomes the newest one.
  return { action: 'update', revision: { ...found, revision: next } };
}

/** Revisions beyond those that are kept, without those in use. */
export function surplusRevisions(
  revisions: readonly ControllerRevision[],
  { limit, used }: { readonly limit: number; readonly used: ReadonlySet<string> },
): readonly ControllerRevision[] {
  const idle = byRevision(revisions).filter(({ metadata }) => !used.has(metadata.name ?? ''));
  return idle.slice(0, Math.max(0, idle.length - limit));
}

function dataOf(template: PodTemplateSpec): JsonValue {
  return { spec: { template: { ...template, $patch: 'replace' } } } as unknown as JsonValue;
}
