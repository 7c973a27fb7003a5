import type { KubeObject } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type {
  DataSource,
  DataVolume,
  KeyPair,
  NetworkAttachmentDefinition,
  PersistentVolume,
  PersistentVolumeClaim,
  Setting,
  StorageClass,
  StorageProfile,
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineImage,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineRestore,
  VirtualMachineTemplate,
  VirtualMachineTemplateVersion,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import type {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Job,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from '@sheaf/api/workload/index';
import type { ResourceRef } from './client.ts';

function ref<T extends KubeObject = KubeObject>(
  apiVersion: string,
  kind: string,
  options: { plural?: string; scope?: 'cluster' } = {},
): ResourceRef<T> {
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    plural: options.plural ?? `${kind.toLowerCase()}s`,
    kind,
    namespaced: options.scope !== 'cluster',
  };
}

const cluster = { scope: 'cluster' } as const;

/** The resources that parts of Sheaf itself work on. */
export const resources = {
  configMaps: ref('v1', 'ConfigMap'),
  endpoints: ref('v1', 'Endpoints', { plural: 'endpoints' }),
  events: ref('v1', 'Event'),
  namespaces: ref('v1', 'Namespace', cluster),
  nodes: ref<NodeObject>('v1', 'Node', cluster),
  persistentVolumes: ref<PersistentVolume>('v1', 'PersistentVolume', cluster),
  persistentVolumeClaims: ref<PersistentVolumeClaim>('v1', 'PersistentVolumeClaim'),
  pods: ref<Pod>('v1', 'Pod'),
  resourceQuotas: ref('v1', 'ResourceQuota'),
  secrets: ref('v1', 'Secret'),
  serviceAccounts: ref('v1', 'ServiceAccount'),
  services: ref<Service>('v1', 'Service'),
  controllerRevisions: ref<ControllerRevision>('apps/v1', 'ControllerRevision'),
  daemonSets: ref<DaemonSet>('apps/v1', 'DaemonSet'),
  deployments: ref<Deployment>('apps/v1', 'Deployment'),
  replicaSets: ref<ReplicaSet>('apps/v1', 'ReplicaSet'),
  statefulSets: ref<StatefulSet>('apps/v1', 'StatefulSet'),
  cronJobs: ref<CronJob>('batch/v1', 'CronJob'),
  jobs: ref<Job>('batch/v1', 'Job'),
  certificateSigningRequests: ref('certificates.k8s.io/v1', 'CertificateSigningRequest', cluster),
  clusterRoles: ref('rbac.authorization.k8s.io/v1', 'ClusterRole', cluster),
  clusterRoleBindings: ref('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', cluster),
  customResourceDefinitions: ref('apiextensions.k8s.io/v1', 'CustomResourceDefinition', cluster),
  apiServices: ref('apiregistration.k8s.io/v1', 'APIService', cluster),
  endpointSlices: ref<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice'),
  flowSchemas: ref('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', cluster),
  ipAddresses: ref('networking.k8s.io/v1', 'IPAddress', { plural: 'ipaddresses', ...cluster }),
  leases: ref('coordination.k8s.io/v1', 'Lease'),
  priorityClasses: ref('scheduling.k8s.io/v1', 'PriorityClass', { plural: 'priorityclasses', ...cluster }),
  priorityLevels: ref('flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', cluster),
  roles: ref('rbac.authorization.k8s.io/v1', 'Role'),
  roleBindings: ref('rbac.authorization.k8s.io/v1', 'RoleBinding'),
  csiDrivers: ref('storage.k8s.io/v1', 'CSIDriver', cluster),
  storageClasses: ref<StorageClass>('storage.k8s.io/v1', 'StorageClass', {
    plural: 'storageclasses',
    ...cluster,
  }),
  serviceCidrs: ref('networking.k8s.io/v1', 'ServiceCIDR', cluster),
  virtualMachines: ref<VirtualMachine>('kubevirt.io/v1', 'VirtualMachine'),
  virtualMachineInstances: ref<VirtualMachineInstance>('kubevirt.io/v1', 'VirtualMachineInstance'),
  virtualMachineInstanceMigrations: ref<VirtualMachineInstanceMigration>(
    'kubevirt.io/v1',
    'VirtualMachineInstanceMigration',
  ),
  cdiConfigs: ref('cdi.kubevirt.io/v1beta1', 'CDIConfig', cluster),
  dataVolumes: ref<DataVolume>('cdi.kubevirt.io/v1beta1', 'DataVolume'),
  dataSources: ref<DataSource>('cdi.kubevirt.io/v1beta1', 'DataSource'),
  storageProfiles: ref<StorageProfile>('cdi.kubevirt.io/v1beta1', 'StorageProfile', cluster),
  volumeSnapshots: ref<VolumeSnapshot>('snapshot.storage.k8s.io/v1', 'VolumeSnapshot'),
  volumeSnapshotContents: ref<VolumeSnapshotContent>(
    'snapshot.storage.k8s.io/v1',
    'VolumeSnapshotContent',
    cluster,
  ),
  volumeSnapshotClasses: ref<VolumeSnapshotClass>('snapshot.storage.k8s.io/v1', 'VolumeSnapshotClass', {
    plural: 'volumesnapshotclasses',
    ...cluster,
  }),
  networkAttachmentDefinitions: ref<NetworkAttachmentDefinition>(
    'k8s.cni.cncf.io/v1',
    'NetworkAttachmentDefinition',
    { plural: 'network-attachment-definitions' },
  ),
  keyPairs: ref<KeyPair>('harvesterhci.io/v1beta1', 'KeyPair'),
  settings: ref<Setting>('harvesterhci.io/v1beta1', 'Setting', cluster),
  virtualMachineBackups: ref<VirtualMachineBackup>('harvesterhci.io/v1beta1', 'VirtualMachineBackup'),
  virtualMachineImages: ref<VirtualMachineImage>('harvesterhci.io/v1beta1', 'VirtualMachineImage'),
  virtualMachineRestores: ref<VirtualMachineRestore>('harvesterhci.io/v1beta1', 'VirtualMachineRestore'),
  virtualMachineTemplates: ref<VirtualMachineTemplate>('harvesterhci.io/v1beta1', 'VirtualMachineTemplate'),
  virtualMachineTemplateVersions: ref<VirtualMachineTemplateVersion>(
    'harvesterhci.io/v1beta1',
    'VirtualMachineTemplateVersion',
  ),
} as const;
