import type { KubeObject } from '@sheaf/api';
import type { Leftover, LeftoverCause } from '@sheaf/api/addon/index';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { StatefulSet } from '@sheaf/api/workload/index';
import { readDefinitionsWords } from '@sheaf/ports';
import type { ReleaseRecord } from './release-record.ts';

export interface LeftoverFacts {
  readonly chart: HelmChart;
  /** All revisions that Helm keeps: what an earlier one brought stays, too. */
  readonly releases: readonly ReleaseRecord[];
  /** All claims, and all StatefulSets, of the cluster. */
  readonly claims: readonly KubeObject[];
  readonly statefulSets: readonly StatefulSet[];
}

/** What may stay on purpose when the chart is taken away. */
export function leftoversOf(facts: LeftoverFacts): readonly Leftover[] {
  return [
    ...namespaceOf(facts.chart),
    ...definitionsOf(facts.chart),
    ...facts.releases.flatMap(ofRelease),
    ...volumesOf(facts),
  ];
}

/** Those that the last operation told of, of all parts of its chart. */
export function definitionsOf({ status }: HelmChart): readonly Leftover[] {
  const words = status?.conditions?.find(({ type }) => type === 'Deployed')?.message ?? '';
  return readDefinitionsWords(words).map((name) => ({
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    namespace: '',
    name,
    because: 'definition',
  }));
}

function namespaceOf({ metadata, spec }: HelmChart): readonly Leftover[] {
  const name = spec?.targetNamespace || (metadata.namespace ?? '');
  if (!spec?.createNamespace || name === metadata.namespace) return [];
  return [{ group: '', kind: 'Namespace', namespace: '', name, because: 'namespace' }];
}

function ofRelease({ namespace, objects, hooks, definitions }: ReleaseRecord): readonly Leftover[] {
  const kept = objects.filter(
    ({ metadata }) => metadata.annotations?.['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep',
  );
  const told = (because: LeftoverCause) => (object: KubeObject) => leftover(object, namespace, because);
  return [...definitions.map(told('definition')), ...hooks.map(told('hook')), ...kept.map(told('kept'))];
}

function leftover(object: KubeObject, releaseNamespace: string, because: LeftoverCause): Leftover {
  const { apiVersion = '', kind = '', metadata } = object;
  const { namespace = because === 'definition' ? '' : releaseNamespace, name = '' } = metadata;
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  return { group, kind, namespace, name, because };
}

/** Claims that were made for a StatefulSet of a release, or for one that an operator has made for an object of it. */
function volumesOf({ releases, claims, statefulSets }: LeftoverFacts): readonly Leftover[] {
  const owned = releases.flatMap(({ namespace, objects }) => [
    ...objects.filter(isStatefulSet).map((set) => ({
      set,
      namespace: set.metadata.namespace ?? namespace,
    })),
    ...statefulSets
      .filter((set) => objects.some((object) => isOwnedBy(set, object, namespace)))
      .map((set) => ({ set, namespace: set.metadata.namespace ?? '' })),
  ]);
  return claims
    .filter(({ metadata }) =>
      owned.some(({ set, namespace }) => namespace === metadata.namespace && isClaimOf(metadata.name, set)),
    )
    .map((claim) => leftover({ ...claim, kind: 'PersistentVolumeClaim', apiVersion: 'v1' }, '', 'volume'));
}

function isStatefulSet(object: KubeObject): object is StatefulSet {
  return object.kind === 'StatefulSet';
}

function isOwnedBy(set: StatefulSet, { kind, metadata }: KubeObject, releaseNamespace: string): boolean {
  const { namespace = releaseNamespace, name } = metadata;
  if (set.metadata.namespace !== namespace) return false;
  return set.metadata.ownerReferences?.some((owner) => owner.kind === kind && owner.name === name) === true;
}

/** `TEMPLATE-SET-NUMBER`. */
function isClaimOf(name = '', { metadata, spec }: StatefulSet): boolean {
  const templates = spec?.volumeClaimTemplates ?? [];
  return templates.some(({ metadata: { name: template } }) => {
    const prefix = `${template}-${metadata.name}-`;
    return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
  });
}
