import type { KubeObject } from '@sheaf/api';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { done, type Manager, type ReconcileResult } from '@sheaf/runtime';

const rbac = 'rbac.authorization.k8s.io';
const group = 'cdi.kubevirt.io';
const kinds = ['datavolumes', 'dataimportcrons', 'datasources'];
const sources = ['volumeimportsources', 'volumeuploadsources', 'volumeclonesources'];
const look = ['get', 'list', 'watch'];

const worked = [
  { apiGroups: [group], resources: [...kinds, ...sources], verbs: ['*'] },
  { apiGroups: [group], resources: ['datavolumes/source'], verbs: ['create'] },
  { apiGroups: [`upload.${group}`], resources: ['uploadtokenrequests'], verbs: ['*'] },
];
const seen = [
  {
    apiGroups: [group],
    resources: ['cdiconfigs', ...kinds, 'objecttransfers', 'storageprofiles', ...sources],
    verbs: look,
  },
  { apiGroups: [group], resources: ['datavolumes/source'], verbs: ['create'] },
];
/** Every user may ask where the upload proxy is. */
const reader = `${group}:config-reader`;

const roles: readonly KubeObject[] = [
  aggregated('admin', worked),
  aggregated('edit', worked),
  aggregated('view', seen),
  {
    metadata: { name: reader },
    rules: [{ apiGroups: [group], resources: ['cdiconfigs', 'storageprofiles'], verbs: look }],
  },
];

const binding: KubeObject = {
  metadata: { name: reader },
  subjects: [{ kind: 'Group', apiGroup: rbac, name: 'system:authenticated' }],
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: reader },
};

/** Who has the role of this name for a namespace gets these rules with it. */
function aggregated(name: 'admin' | 'edit' | 'view', rules: readonly object[]): KubeObject {
  return {
    metadata: { name: `${group}:${name}`, labels: { [`${rbac}/aggregate-to-${name}`]: 'true' } },
    rules,
  };
}

/** Makes the roles that CDI brings along where they are missing, once at each start; then they belong to whoever runs the cluster. */
export function registerRoles(manager: Manager): void {
  const { client } = manager;
  manager
    .controller({ name: 'upload-access', reconcile: (_, signal) => makeRoles(client, signal) })
    .queue.add('all');
}

async function makeRoles(client: Client, signal: AbortSignal): Promise<ReconcileResult> {
  for (const object of roles) await ensure(client, { resource: resources.clusterRoles, object }, signal);
  await ensure(client, { resource: resources.clusterRoleBindings, object: binding }, signal);
  return done;
}

async function ensure(
  client: Client,
  {
    resource,
    object,
  }: {
    readonly resource: ResourceRef;
    readonly object: KubeObject;
  },
  signal: AbortSignal,
): Promise<void> {
  const { name = '' } = object.metadata;
  if (!(await client.findMetadata(resource, { name }, signal)))
    await client.create(resource, object, { signal });
}
