import { type Condition, findCondition, type KubeObject } from '@sheaf/api';
import { definitionDigest } from '@sheaf/api/virtualization/expand-definition';
import { type KindDefinition, matchesDefinition } from '@sheaf/api/virtualization/kind-definitions';

/** On every definition that is kept: the digest of what it says, and the generation in which it does. */
export const markAnnotation = 'sheaf.dev/kind-definition';
/** On a definition that stood there before, made by someone else: the digest of what it said. */
export const replacedAnnotation = 'sheaf.dev/replaced-kind-definition';

export type DefinitionStep =
  | { readonly action: 'none' }
  /** It is being deleted: it is made again when it is gone. */
  | { readonly action: 'wait' }
  | { readonly action: 'create' }
  | { readonly action: 'replace' };

/**
 * What is to be done so that `definition` holds, told by the metadata alone: whoever changes a spec makes a new
 * generation. Enough for a start; while the server runs, `planInFull` has looked at each change.
 */
export function planByMark(definition: KindDefinition, existing: KubeObject | undefined): DefinitionStep {
  if (!existing) return { action: 'create' };
  const { deletionTimestamp, annotations, generation } = existing.metadata;
  if (deletionTimestamp !== undefined) return { action: 'wait' };
  const isMarked = annotations?.[markAnnotation] === markOf(definition, generation);
  return isMarked && hasOwnMetadata(definition, existing) ? { action: 'none' } : { action: 'replace' };
}

/** The same, told by everything that the definition says. */
export function planInFull(definition: KindDefinition, existing: KubeObject | undefined): DefinitionStep {
  const step = planByMark(definition, existing);
  if (step.action !== 'none' || !existing) return step;
  return matchesDefinition(existing, definition) ? step : { action: 'replace' };
}

function markOf({ digest }: KindDefinition, generation = 1): string {
  return `${digest}/${generation}`;
}

function hasOwnMetadata({ labels, annotations }: KindDefinition, { metadata }: KubeObject): boolean {
  return contains(metadata.labels, labels) && contains(metadata.annotations, annotations);
}

function contains(
  all: Readonly<Record<string, string>> | undefined,
  part: Readonly<Record<string, string>> | undefined,
): boolean {
  return Object.entries(part ?? {}).every(([key, value]) => all?.[key] === value);
}

/** The definition as it is created: `full` with our mark. */
export function newDefinition(definition: KindDefinition, full: KubeObject): KubeObject {
  const annotations = { ...full.metadata.annotations, [markAnnotation]: markOf(definition) };
  return { ...full, metadata: { ...full.metadata, annotations } };
}

/** The existing definition with our spec. Labels, annotations and finalizers of others stay. */
export function replacedDefinition(
  definition: KindDefinition,
  full: KubeObject,
  existing: KubeObject,
): KubeObject {
  const { labels, annotations, generation = 1 } = existing.metadata;
  const isChanged = !matchesDefinition(existing, definition);
  const isTaken = isChanged && annotations?.[markAnnotation] === undefined;
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: { ...labels, ...full.metadata.labels },
      annotations: {
        ...annotations,
        ...full.metadata.annotations,
        ...(isTaken ? { [replacedAnnotation]: definitionDigest(existing) } : {}),
        [markAnnotation]: markOf(definition, isChanged ? generation + 1 : generation),
      },
    },
    spec: full['spec'],
  };
}

/** Nobody stands in its way: the server is at work on it, however long that takes. */
export function isComing(crd: KubeObject | undefined): boolean {
  if (!crd || crd.metadata.deletionTimestamp !== undefined) return false;
  return !conditionsOf(crd).some(({ type, status }) => type === 'NamesAccepted' && status === 'False');
}

/** Why objects of the kind cannot be used; `undefined` if they can. */
export function whyNotServed(crd: KubeObject | undefined): string | undefined {
  if (!crd) return 'its definition is missing';
  if (crd.metadata.deletionTimestamp !== undefined)
    return 'its definition is being deleted, with all objects of the kind; it is made again afterwards';
  const conditions = conditionsOf(crd);
  if (findCondition(conditions, 'Established')?.status === 'True') return undefined;
  const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
  return refused
    ? `${refused.message}; rename or delete the definition that has the name`
    : 'the server has not accepted its definition yet';
}

function conditionsOf(crd: KubeObject): readonly Condition[] {
  return (
    (crd as { readonly status?: { readonly conditions?: readonly Condition[] } }).status?.conditions ?? []
  );
}
