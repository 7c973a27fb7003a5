import type { KubeObject } from '../meta/object.ts';
import type { Pod, Volume } from './generated/core.ts';

/** The claim behind a volume: the one it names, or its own; `undefined` for a volume of another kind. */
export function claimNameOf({ metadata }: Pod, volume: Volume): string | undefined {
  return volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${metadata.name}-${volume.name}`);
}

/** The claims that a pod mounts, by name. */
export function claimNamesOf(pod: Pod): readonly string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);
}

/** Why a pod may not use the claim of its generic ephemeral volume: it has the name, but was made for something else. */
export function foreignClaimText(pod: Pod, { metadata: claim }: KubeObject): string | undefined {
  const { metadata } = pod;
  const isOwn = claim.ownerReferences?.some(
    ({ uid, controller }) => uid === metadata.uid && controller === true,
  );
  if (isOwn) return undefined;
  return `PVC ${claim.namespace}/${claim.name} was not created for pod ${metadata.namespace}/${metadata.name} (pod is not owner)`;
}
