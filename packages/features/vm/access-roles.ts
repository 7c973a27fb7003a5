import type { KubeObject } from '@sheaf/api';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { done, type Manager, type ReconcileResult } from '@sheaf/runtime';

const rbac = 'rbac.authorization.k8s.io';
const everyone = 'kubevirt.io:default';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const look = ['get', 'list', 'watch'];
const work = [...look, 'create', 'update', 'patch', 'delete', 'deletecollection'];
const kinds = ['virtualmachines', 'virtualmachineinstances'];
const typeGroup = 'instancetype.kubevirt.io';
const ownTypes = ['virtualmachineinstancetypes', 'virtualmachinepreferences'];
const clusterTypes = ['virtualmachineclusterinstancetypes', 'virtualmachineclusterpreferences'];
/** Every user may look at the types of the cluster. */
const typeReader = `${typeGroup}:view`;

/** What only tells of machines. */
const told: readonly Rule[] = [
  subresources('virtualmachineinstances', ['guestosinfo', 'filesystemlist', 'userlist'], 'get'),
  subresources('virtualmachines', ['expand-spec'], 'get'),
  { apiGroups: ['subresources.kubevirt.io'], resources: ['expand-vm-spec'], verbs: ['update'] },
  { apiGroups: ['kubevirt.io'], resources: ['virtualmachineinstancemigrations'], verbs: look },
];

/** What reaches into machines and changes them. */
const worked: readonly Rule[] = [
  subresources('virtualmachines', ['portforward', 'objectgraph'], 'get'),
  subresources(
    'virtualmachineinstances',
    ['console', 'console/log', 'vnc', 'vnc/screenshot', 'portforward', 'usbredir', 'objectgraph'],
    'get',
  ),
  subresources(
    'virtualmachines',
    ['start', 'stop', 'restart', 'addvolume', 'removevolume', 'memorydump', 'evacuate', 'evacuate/cancel'],
    'update',
  ),
  subresources(
    'virtualmachineinstances',
    [
      ...['pause', 'unpause', 'freeze', 'unfreeze', 'softreboot', 'reset', 'addvolume', 'removevolume'],
      ...['evacuate', 'evacuate/cancel'],
    ],
    'update',
  ),
  { apiGroups: ['kubevirt.io'], resources: kinds, verbs: work },
  { apiGroups: [typeGroup], resources: ownTypes, verbs: work },
];

function subresources(resource: string, words: readonly string[], verb: string): Rule {
  return {
    apiGroups: ['subresources.kubevirt.io'],
    resources: words.map((word) => `${resource}/${word}`),
    verbs: [verb],
  };
}

/** Who has the role of this name for a namespace gets these rules with it. */
function aggregated(name: 'admin' | 'edit' | 'view', rules: readonly Rule[]): KubeObject {
  const labels = { 'kubevirt.io': '', [`${rbac}/aggregate-to-${name}`]: 'true' };
  return { metadata: { name: `kubevirt.io:${name}`, labels }, rules };
}

interface Made {
  readonly resource: ResourceRef;
  readonly object: KubeObject;
}

/** The roles that KubeVirt brings along, under its names: what admin, edit and view mean for machines, and what all users may ask. */
const accessRoles: readonly Made[] = [
  ...[
    aggregated('admin', [...told, ...worked]),
    aggregated('edit', [...told, ...worked]),
    aggregated('view', [
      ...told,
      { apiGroups: ['kubevirt.io'], resources: kinds, verbs: look },
      { apiGroups: [typeGroup], resources: ownTypes, verbs: look },
    ]),
    {
      metadata: { name: typeReader, labels: { 'kubevirt.io': '' } },
      rules: [{ apiGroups: [typeGroup], resources: clusterTypes, verbs: look }],
    },
    {
      metadata: { name: everyone, labels: { 'kubevirt.io': '' } },
      rules: [
        {
          apiGroups: ['subresources.kubevirt.io'],
          resources: ['version', 'guestfs'],
          verbs: ['get', 'list'],
        },
      ],
    },
  ].map((object) => ({ resource: resources.clusterRoles, object })),
  ...[everyone, typeReader].map((name) => ({
    resource: resources.clusterRoleBindings,
    object: {
      metadata: { name, labels: { 'kubevirt.io': '' } },
      subjects: [{ kind: 'Group', apiGroup: rbac, name: 'system:authenticated' }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    },
  })),
];

/** Makes what is missing, once at each start; what is there belongs to whoever runs the cluster. */
export function registerAccess(manager: Manager): void {
  const { client } = manager;
  const controller = manager.controller({
    name: 'virtual-machine-access',
    reconcile: (_, signal) => makeRoles(client, signal),
  });
  controller.queue.add('all');
}

async function makeRoles(client: Client, signal: AbortSignal): Promise<ReconcileResult> {
  for (const { resource, object } of accessRoles) {
    const { name = '' } = object.metadata;
    if (!(await client.findMetadata(resource, { name }, signal)))
      await client.create(resource, object, { signal });
  }
  return done;
}
