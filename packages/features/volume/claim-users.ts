import type { WaitedFor } from '@sheaf/api';
import type { VirtualMachineInstance } from '@sheaf/api/virtualization/index';

/** The claims that an instance is on, by name. */
export function claimNamesOf({ spec }: VirtualMachineInstance): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim, dataVolume, ephemeral, memoryDump }) =>
    [
      persistentVolumeClaim?.claimName,
      dataVolume?.name,
      ephemeral?.persistentVolumeClaim?.claimName,
      memoryDump?.claimName,
    ].filter((name) => name !== undefined),
  );
}

/** Those instances on a claim whose machine may still run. `instances`: those of its namespace. */
export function usersOf(
  claimName: string,
  instances: readonly VirtualMachineInstance[],
): readonly WaitedFor[] {
  return instances
    .filter((instance) => !isFinal(instance) && claimNamesOf(instance).includes(claimName))
    .map(({ metadata }) => ({
      kind: 'VirtualMachineInstance',
      namespace: metadata.namespace ?? '',
      name: metadata.name ?? '',
    }));
}

function isFinal({ status }: VirtualMachineInstance): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
