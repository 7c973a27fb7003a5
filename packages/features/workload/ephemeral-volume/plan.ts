import type { KubeObject } from '@sheaf/api';
import {
  claimNameOf,
  foreignClaimText,
  type PersistentVolumeClaim,
  type Pod,
} from '@sheaf/api/workload/index';

export type EphemeralStep =
  | { readonly action: 'create'; readonly claim: PersistentVolumeClaim }
  /** The name is taken: the pod waits until somebody has decided. */
  | { readonly action: 'tell'; readonly message: string };

/** The claims of a pod's generic ephemeral volumes that are missing, and those that stand in the way. */
export function planEphemeralVolumes(
  pod: Pod,
  claimOf: (name: string) => KubeObject | undefined,
): readonly EphemeralStep[] {
  if (pod.metadata.deletionTimestamp !== undefined) return [];
  return (pod.spec.volumes ?? []).flatMap((volume): EphemeralStep[] => {
    const template = volume.ephemeral?.volumeClaimTemplate;
    const name = claimNameOf(pod, volume);
    if (!template || name === undefined) return [];
    const found = claimOf(name);
    if (!found) return [{ action: 'create', claim: claimFor(pod, name, template) }];
    const foreign = foreignClaimText(pod, found);
    return foreign === undefined
      ? []
      : [
          {
            action: 'tell',
            message: `ephemeral volume ${volume.name}: ${foreign}; delete the claim, or give the pod or its volume another name`,
          },
        ];
  });
}

type Template = NonNullable<
  NonNullable<NonNullable<Pod['spec']['volumes']>[number]['ephemeral']>['volumeClaimTemplate']
>;

/** It goes with the pod, since that is its owner. */
function claimFor(pod: Pod, name: string, { metadata, spec }: Template): PersistentVolumeClaim {
  const { namespace = '', name: podName = '', uid = '' } = pod.metadata;
  const owner = { apiVersion: 'v1', kind: 'Pod', name: podName, uid };
  return {
    metadata: {
      namespace,
      name,
      ...(metadata?.labels && { labels: metadata.labels }),
      ...(metadata?.annotations && { annotations: metadata.annotations }),
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec,
  };
}
