import { experimentalLabel } from '@sheaf/api/addon/index';
import type { Addon } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ReconcileResult } from '@sheaf/runtime';

/** Where the charts of a release are; with a bundle loaded, the host has them itself. */
const repo = 'http://harvester-cluster-repo.cattle-system.svc/charts';

interface Packaged {
  readonly namespace: string;
  readonly name: string;
  readonly chart: string;
  readonly version: string;
  readonly isExperimental?: boolean;
  readonly displayName?: string;
}

/**
 * Those of Harvester 1.8.0, as `harvester/addons` lists them for it (`version_info`, `pkg/templates/rancherd-22-addons.yaml`). Its
 * own charts have the version of the release there, which a development suffix precedes; Kube-OVN is 1.15.4, as its component list
 * says, and rancher-monitoring stands in the `releaseMetadata` of an upgrade to it.
 */
const table: readonly Packaged[] = [
  {
    namespace: 'harvester-system',
    name: 'vm-import-controller',
    chart: 'harvester-vm-import-controller',
    version: '1.8.0',
  },
  {
    namespace: 'harvester-system',
    name: 'pcidevices-controller',
    chart: 'harvester-pcidevices-controller',
    version: '1.8.0',
  },
  {
    namespace: 'cattle-logging-system',
    name: 'rancher-logging',
    chart: 'rancher-logging',
    version: '108.0.2+up4.10.0-rancher.18',
  },
  {
    namespace: 'cattle-monitoring-system',
    name: 'rancher-monitoring',
    chart: 'rancher-monitoring',
    version: '108.0.2+up77.9.1-rancher.11',
  },
  {
    namespace: 'harvester-system',
    name: 'harvester-seeder',
    chart: 'harvester-seeder',
    version: '1.8.0',
    isExperimental: true,
  },
  {
    namespace: 'harvester-system',
    name: 'nvidia-driver-toolkit',
    chart: 'nvidia-driver-runtime',
    version: '1.8.0',
  },
  {
    namespace: 'kube-system',
    name: 'kubeovn-operator',
    chart: 'kubeovn-operator',
    version: '1.15.4',
    isExperimental: true,
  },
  {
    namespace: 'kube-system',
    name: 'descheduler',
    chart: 'descheduler',
    version: '0.33.0',
    isExperimental: true,
    displayName: 'virtual-machine-auto-balance',
  },
];

/** All of them disabled. */
export function packagedAddons(): readonly Addon[] {
  return table.map(({ namespace, name, chart, version, isExperimental, displayName }) => ({
    metadata: {
      namespace,
      name,
      labels: {
        ...(isExperimental ? { [experimentalLabel]: 'true' } : {}),
        ...(displayName === undefined ? {} : { 'addon.harvesterhci.io/displayName': displayName }),
      },
    },
    spec: { repo, chart, version, enabled: false, valuesContent: '' },
  }));
}

/** Makes what is missing; what is there is its owner's. */
export async function makePackaged(client: Client, signal: AbortSignal): Promise<ReconcileResult> {
  const { items } = await client.list(resources.addons, { signal });
  const known = new Set(items.map(placeOf));
  const missing = packagedAddons().filter((addon) => !known.has(placeOf(addon)));
  const namespaces = new Set(missing.map(({ metadata }) => metadata.namespace ?? ''));
  await Promise.all([...namespaces].map((name) => makeNamespace(client, name, signal)));
  await Promise.all(
    missing.map((addon) => makeIfAbsent(() => client.create(resources.addons, addon, { signal }))),
  );
  return done;
}

function placeOf({ metadata }: Addon): string {
  return `${metadata.namespace}/${metadata.name}`;
}

async function makeNamespace(client: Client, name: string, signal: AbortSignal): Promise<void> {
  if (await client.find(resources.namespaces, { name }, signal)) return;
  await makeIfAbsent(() => client.create(resources.namespaces, { metadata: { name } }, { signal }));
}

/** Someone else may have been quicker, also with an add-on of the same chart. */
async function makeIfAbsent(make: () => Promise<unknown>): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists') && !StatusError.is(error, 'Conflict')) throw error;
  }
}
