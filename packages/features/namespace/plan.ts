import { type Condition, type KubeObject, withCondition } from '@sheaf/api';

/** The finalizer in `spec.finalizers` that this feature takes off. */
export const namespaceFinalizer = 'kubernetes';

/** What is left of one resource in a namespace that is being deleted. */
export interface Remaining {
  readonly group: string;
  readonly plural: string;
  readonly count: number;
  /** How many of them each finalizer holds. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** One pass of deleting the content, as it went. */
export interface ContentPass {
  /** Group versions that discovery could not tell about. */
  readonly undiscovered: readonly string[];
  readonly remaining: readonly Remaining[];
  /** Messages of deletions and lists that failed. */
  readonly failures: readonly string[];
}

export type NamespaceStep = 'nothing' | 'mark-terminating' | 'delete-content';

interface NamespaceFields extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

export function planNamespace(namespace: KubeObject): NamespaceStep {
  const { spec, status, metadata } = namespace as NamespaceFields;
  if (metadata.deletionTimestamp === undefined) return 'nothing';
  if (status?.phase !== 'Terminating') return 'mark-terminating';
  return spec?.finalizers?.includes(namespaceFinalizer) ? 'delete-content' : 'nothing';
}

/** True when nothing is left and all of it could be seen. */
export function isEmptied(pass: ContentPass): boolean {
  return pass.undiscovered.length + pass.failures.length + pass.remaining.length === 0;
}

/** True when nothing but this feature keeps the namespace. */
export function isHeldByUs(namespace: KubeObject): boolean {
  const { spec, metadata } = namespace as NamespaceFields;
  return (metadata.finalizers ?? []).length === 0 && spec?.finalizers?.length === 1;
}

export function withoutFinalizer(namespace: KubeObject): KubeObject {
  const { spec } = namespace as NamespaceFields;
  const finalizers = (spec?.finalizers ?? []).filter((name) => name !== namespaceFinalizer);
  return { ...namespace, spec: { ...spec, finalizers } };
}

export function conditionsOf(namespace: KubeObject): readonly Condition[] {
  return (namespace as NamespaceFields).status?.conditions ?? [];
}

/** The conditions after a pass, worded as Kubernetes words them: programs and people look for these texts. */
export function planConditions(
  conditions: readonly Condition[],
  pass: ContentPass,
  now: string,
): readonly Condition[] {
  return conditionsAfter(pass).reduce((list, next) => withCondition(list, next, now), conditions);
}

type Claim = Omit<Condition, 'lastTransitionTime'>;

function conditionsAfter(pass: ContentPass): readonly Claim[] {
  const remaining = pass.remaining.map(
    ({ plural, group, count }) => `${plural}.${group} has ${count} resource instances`,
  );
  const holders = [...sumFinalizers(pass.remaining)].map(
    ([finalizer, count]) => `${finalizer} in ${count} resource instances`,
  );
  return [
    claim('NamespaceDeletionDiscoveryFailure', {
      good: ['ResourcesDiscovered', 'All resources successfully discovered'],
      bad: 'DiscoveryFailed',
      text: discoveryText(pass.undiscovered),
    }),
    claim('NamespaceDeletionGroupVersionParsingFailure', {
      good: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
      bad: 'GroupVersionParsingFailed',
      text: '',
    }),
    claim('NamespaceDeletionContentFailure', {
      good: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
      bad: 'ContentDeletionFailed',
      text: listText(
        `Failed to delete all resource types, ${pass.failures.length} remaining: `,
        pass.failures,
      ),
    }),
    claim('NamespaceContentRemaining', {
      good: ['ContentRemoved', 'All content successfully removed'],
      bad: 'SomeResourcesRemain',
      text: listText('Some resources are remaining: ', remaining),
    }),
    claim('NamespaceFinalizersRemaining', {
      good: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
      bad: 'SomeFinalizersRemain',
      text: listText('Some content in the namespace has finalizers remaining: ', holders),
    }),
  ];
}

interface Wording {
  readonly good: readonly [reason: string, message: string];
  readonly bad: string;
  /** Empty: all is well. */
  readonly text: string;
}

function claim(type: string, { good, bad, text }: Wording): Claim {
  if (text === '') return { type, status: 'False', reason: good[0], message: good[1] };
  return { type, status: 'True', reason: bad, message: text };
}

function listText(introduction: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `${introduction}${[...items].sort().join(', ')}`;
}

function discoveryText(undiscovered: readonly string[]): string {
  if (undiscovered.length === 0) return '';
  const groups = [...undiscovered].sort().map((name) => `${name}: stale GroupVersion discovery: ${name}`);
  return `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${groups.join(', ')}`;
}

function sumFinalizers(remaining: readonly Remaining[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { finalizers } of remaining)
    for (const [name, count] of finalizers) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
}
