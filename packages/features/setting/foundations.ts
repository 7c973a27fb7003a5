import type { KubeObject } from '@sheaf/api';
import { type ResourceRef, resources } from '@sheaf/client';

/** Made when it is missing; left alone otherwise: its owner is whoever runs the cluster. */
export interface Foundation {
  readonly resource: ResourceRef;
  readonly object: KubeObject;
}

const name = 'harvester-authenticated';
const rbac = 'rbac.authorization.k8s.io';

/** Settings that every user may read. */
const openSettings = [
  'server-version',
  'default-storage-class',
  'harvester-csi-ccm-versions',
  'default-vm-termination-grace-period-seconds',
];

/** The namespace of the system, and what every user may see of the cluster. */
export const foundations: readonly Foundation[] = [
  { resource: resources.namespaces, object: { metadata: { name: 'harvester-system' } } },
  {
    resource: resources.clusterRoles,
    object: {
      metadata: { name },
      rules: [
        {
          verbs: ['get', 'watch'],
          apiGroups: ['harvesterhci.io'],
          resources: ['settings'],
          resourceNames: openSettings,
        },
        {
          verbs: ['get', 'watch'],
          apiGroups: [''],
          resources: ['namespaces'],
          resourceNames: ['harvester-public'],
        },
      ],
    },
  },
  {
    resource: resources.clusterRoleBindings,
    object: {
      metadata: { name },
      subjects: [{ kind: 'Group', apiGroup: rbac, name: 'system:authenticated' }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    },
  },
];
