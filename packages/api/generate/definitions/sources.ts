/** Files of a Go module that are definitions or, in a Go file, have definitions as texts. */
export interface DefinitionSource {
  /** As in the module cache: `PATH@VERSION`. */
  readonly module: string;
  readonly folder: string;
  readonly files: RegExp;
  /** Groups that are taken; all if absent. */
  readonly group?: string;
}

/** All of them but those of KubeVirt, which are the output of a program: `../kubevirt`. */
export const definitionSources: readonly DefinitionSource[] = [
  {
    module: 'kubevirt.io/containerized-data-importer@v1.64.0',
    folder: 'pkg/operator/resources',
    files: /^crds_generated\.go$/,
    group: 'cdi.kubevirt.io',
  },
  {
    module: 'github.com/k8snetworkplumbingwg/network-attachment-definition-client@v1.7.7',
    folder: 'artifacts',
    files: /^networks-crd\.yaml$/,
  },
  {
    module: 'github.com/harvester/harvester@v1.8.0',
    folder: 'deploy/charts/harvester-crd/templates',
    files: /^(harvesterhci|whereabouts\.cni\.cncf)\.io_/,
  },
  {
    module: 'github.com/harvester/harvester-network-controller@v1.6.0-rc3',
    folder: 'manifests/crds',
    files: /^network\.harvesterhci\.io_/,
  },
  {
    module: 'github.com/harvester/harvester-load-balancer@v1.5.0',
    folder: 'crds',
    files: /^loadbalancer\.harvesterhci\.io_/,
  },
  {
    module: 'github.com/harvester/node-manager@v1.6.0-rc3',
    folder: 'charts/harvester-node-manager/templates/crds',
    files: /^node\.harvesterhci\.io_/,
  },
  {
    module: 'github.com/kubernetes-csi/external-snapshotter/client/v8@v8.6.0',
    folder: 'config/crd',
    files: /^snapshot\.storage\.k8s\.io_/,
  },
  {
    module: 'github.com/k3s-io/helm-controller@v0.17.9',
    folder: 'pkg/crds/yaml/generated',
    files: /^helm\.cattle\.io_/,
  },
];
