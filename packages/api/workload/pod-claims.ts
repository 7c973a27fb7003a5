import type { Pod, Volume } from './generated/core.ts';

/** The claim behind a volume: the one it names, or its own; `undefined` for a volume of another kind. */
export function claimNameOf({ metadata }: Pod, volume: Volume): string | undefined {
  return volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${metadata.name}-${volume.name}`);
}

/** The claims that a pod mounts, by name. */
export function claimNamesOf(pod: Pod): readonly string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);
}
