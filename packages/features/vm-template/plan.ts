import type { ObjectMeta, OwnerReference } from '@sheaf/api';
import { withHarvesterCondition } from '@sheaf/api/virtualization/harvester-conditions';
import type {
  Condition,
  VirtualMachineTemplate,
  VirtualMachineTemplateVersion,
} from '@sheaf/api/virtualization/index';
import { isJsonObject } from '@sheaf/base';
import { parseReference, referenceTo } from './references.ts';

export const templateLabel = 'template.harvesterhci.io/templateID';
export const claimsAnnotation = 'harvesterhci.io/volumeClaimTemplates';
const imageAnnotation = 'harvesterhci.io/imageId';

export interface TemplateFacts {
  readonly template: VirtualMachineTemplate;
  /** All of them, in any order. */
  readonly versions: readonly VirtualMachineTemplateVersion[];
  /** Whether the image of this `NAMESPACE/NAME` is there and imported. */
  readonly isImported: (reference: string) => boolean;
  /** RFC 3339 in seconds. */
  readonly now: string;
}

export interface TemplatePlan {
  /** Versions to write, in this order. */
  readonly versions: readonly VirtualMachineTemplateVersion[];
  /** The template with another default version. */
  readonly template: VirtualMachineTemplate | undefined;
  /** The template with another status. */
  readonly status: VirtualMachineTemplate | undefined;
}

/**
 * Numbers versions in the order in which they were made, and shows in the template which is the newest and which is used.
 * The first version becomes the default.
 */
export function planTemplate({ template, versions, isImported, now }: TemplateFacts): TemplatePlan {
  const present = versions.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  let latest = Math.max(0, ...present.map((version) => numberOf(version)));
  const planned = present.toSorted(byAge).map((version) => {
    const number = numberOf(version) || ++latest;
    return { old: version, next: numbered(version, { template, number, isImported, now }) };
  });
  const changed = planned.filter(({ old, next }) => next !== old).map(({ next }) => next);
  const all = planned.map(({ next }) => next);
  const withDefault = defaulted(template, all);
  // The status follows when the new default is seen.
  const status = withDefault ? undefined : withStatus(template, all, latest);
  return { versions: changed, template: withDefault, status };
}

function defaulted(
  template: VirtualMachineTemplate,
  versions: readonly VirtualMachineTemplateVersion[],
): VirtualMachineTemplate | undefined {
  const [first] = versions.toSorted((a, b) => numberOf(a) - numberOf(b));
  if (template.spec?.defaultVersionId || !first || numberOf(first) !== 1) return undefined;
  return { ...template, spec: { ...template.spec, defaultVersionId: referenceTo(first) } };
}

/** `undefined` if the status says so already. */
function withStatus(
  template: VirtualMachineTemplate,
  versions: readonly VirtualMachineTemplateVersion[],
  latestVersion: number,
): VirtualMachineTemplate | undefined {
  const { status = {}, spec } = template;
  const chosen = versions.find((version) => referenceTo(version) === spec?.defaultVersionId);
  const defaultVersion = chosen ? numberOf(chosen) : status.defaultVersion;
  if (versions.length === 0) return undefined;
  if (status.latestVersion === latestVersion && status.defaultVersion === defaultVersion) return undefined;
  const next = { ...status, latestVersion, ...(defaultVersion === undefined ? {} : { defaultVersion }) };
  return { ...template, status: next };
}

/** 0: it has no number yet. */
function numberOf({ status }: VirtualMachineTemplateVersion): number {
  return status?.conditions?.some(({ type, status: holds }) => type === 'assigned' && holds === 'True')
    ? (status.version ?? 0)
    : 0;
}

function byAge(a: VirtualMachineTemplateVersion, b: VirtualMachineTemplateVersion): number {
  const [left, right] = [a, b].map(
    ({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`,
  );
  return (left ?? '') < (right ?? '') ? -1 : 1;
}

interface NumberFacts extends Pick<TemplateFacts, 'template' | 'isImported' | 'now'> {
  readonly number: number;
}

/** The very same object comes back if nothing is missing. */
function numbered(
  version: VirtualMachineTemplateVersion,
  { template, number, isImported, now }: NumberFacts,
): VirtualMachineTemplateVersion {
  const { status = {} } = version;
  const assigned: Condition = { type: 'assigned', status: 'True', reason: '', message: '' };
  const conditions = [assigned, readiness(version, isImported)].reduce(
    (all, condition) => withHarvesterCondition(all, condition, now),
    status.conditions ?? [],
  );
  const metadata = withOwner(version.metadata, template);
  if (metadata === version.metadata && conditions === status.conditions) return version;
  return { ...version, metadata, status: { ...status, version: number, conditions } };
}

/** The very same metadata comes back if the template is known there. */
function withOwner(metadata: ObjectMeta, template: VirtualMachineTemplate): ObjectMeta {
  const { labels = {}, ownerReferences = [] } = metadata;
  const isOwned = ownerReferences.some(({ uid }) => uid === template.metadata.uid);
  if (isOwned && labels[templateLabel] !== undefined) return metadata;
  return {
    ...metadata,
    labels: { [templateLabel]: template.metadata.name ?? '', ...labels },
    ownerReferences: isOwned ? ownerReferences : [...ownerReferences, ownedBy(template)],
  };
}

function ownedBy({ metadata }: VirtualMachineTemplate): OwnerReference {
  return {
    apiVersion: 'harvesterhci.io/v1beta1',
    kind: 'VirtualMachineTemplate',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

function readiness(
  version: VirtualMachineTemplateVersion,
  isImported: TemplateFacts['isImported'],
): Condition {
  const missing = imagesOf(version).filter((reference) => !isImported(reference));
  if (missing.length === 0) return { type: 'ready', status: 'True', reason: '', message: '' };
  const message = `images are not imported yet: ${missing.join(', ')}; it becomes ready by itself when they are`;
  return { type: 'ready', status: 'False', reason: 'ImageNotImported', message };
}

/** `NAMESPACE/NAME` of the images that its disks are made from. */
export function imagesOf({ spec }: VirtualMachineTemplateVersion): readonly string[] {
  const claims = readClaims(spec.vm?.metadata?.annotations?.[claimsAnnotation]) ?? [];
  return claims.flatMap((claim) => {
    const metadata = isJsonObject(claim) ? claim['metadata'] : undefined;
    const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
    const image = isJsonObject(annotations) ? annotations[imageAnnotation] : undefined;
    return typeof image === 'string' && parseReference(image) ? [image] : [];
  });
}

/** The claims of the disks; `undefined` for a text that is no list of them. */
export function readClaims(text: string | undefined): readonly unknown[] | undefined {
  if (!text) return [];
  try {
    const claims: unknown = JSON.parse(text);
    return Array.isArray(claims) && claims.every(isJsonObject) ? claims : undefined;
  } catch {
    return undefined;
  }
}
