import type { Pod, Volume } from '@sheaf/api/workload/index';

/** The claim behind a volume: the one it names, or its own; `undefined` for a volume of another kind. */
export function claimNameOf({ metadata }: Pod, volume: Volume): string | undefined {
  return volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${metadata.name}-${volume.name}`);
}
