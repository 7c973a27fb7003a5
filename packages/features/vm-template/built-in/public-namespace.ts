import { resources } from '@sheaf/client';
import type { BuiltIn } from './built-in.ts';

const rbac = 'rbac.authorization.k8s.io';
/** What every user may look at there, and who has the role `view` elsewhere. */
const shown = [
  'keypairs',
  'virtualmachineimages',
  'virtualmachinetemplates',
  'virtualmachinetemplateversions',
];

/** A namespace for what all users share: everybody may look, nobody but administrators may change. */
export function publicNamespace(namespace: string): readonly BuiltIn[] {
  return [
    { resource: resources.namespaces, object: { metadata: { name: namespace } } },
    {
      resource: resources.clusterRoles,
      object: {
        metadata: {
          name: 'harvesterhci.io:view',
          labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
        },
        rules: [{ apiGroups: ['harvesterhci.io'], resources: shown, verbs: ['get', 'list', 'watch'] }],
      },
    },
    {
      resource: resources.roleBindings,
      object: {
        metadata: { namespace, name: namespace },
        subjects: [{ kind: 'Group', apiGroup: rbac, name: 'system:authenticated' }],
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      },
    },
  ];
}
