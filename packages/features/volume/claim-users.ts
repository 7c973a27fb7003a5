import type { WaitedFor } from '@sheaf/api';
import type { VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import { claimNamesOf as claimNamesOfPod, type Pod } from '@sheaf/api/workload/index';

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

/** Pods on a claim that have a node and have not ended: the claim stays for them. `pods`: those of its namespace. */
export function podsOn(claimName: string, pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => pod.spec.nodeName && !isFinal(pod) && claimNamesOfPod(pod).includes(claimName));
}

/** Its volumes are mounted: it has got as far as its sandbox. */
export function holdsVolumes({ status }: Pod): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: is }) => type === 'PodReadyToStartContainers' && is === 'True',
    ) === true
  );
}

export function waitedForPod({ metadata }: Pod): WaitedFor {
  return { kind: 'Pod', namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
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

function isFinal({ status }: { readonly status?: { readonly phase?: string } }): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
