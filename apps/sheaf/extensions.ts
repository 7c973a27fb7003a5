import { ExtensionSet } from '@sheaf/api';
import type { ApiHandler } from '@sheaf/apiserver';
import type { Clock, Random } from '@sheaf/base';
import { Client, inProcessTransport } from '@sheaf/client';
import { extend as extendByAddons } from '@sheaf/features/addon';
import { extend as extendByCharts } from '@sheaf/features/helm-chart';
import { extend as extendByKeyPairs } from '@sheaf/features/key-pair';
import { extend as extendByKinds } from '@sheaf/features/kind-definitions';
import { extend as extendByNamespaces } from '@sheaf/features/namespace';
import { extend as extendByNodes } from '@sheaf/features/node';
import { extend as extendBySettings, type SettingOptions } from '@sheaf/features/setting';
import { extend as extendByUpgrades } from '@sheaf/features/upgrade';
import { extend as extendByMachines } from '@sheaf/features/vm';
import { extend as extendByBackups } from '@sheaf/features/vm-backup';
import { extend as extendByTemplates } from '@sheaf/features/vm-template';
import { extend as extendByWorkloads } from '@sheaf/features/workload';
import { controllersUser } from './controllers-user.ts';
import type { MachineHost } from './machine-host.ts';
import { newKey } from './new-key.ts';
import { extendByStorage } from './storage-controllers.ts';
import type { WorkloadHost } from './workload-host.ts';

export interface ExtensionOptions extends SettingOptions {
  /** The server that is extended; called only once it is open. */
  readonly handle: ApiHandler;
  readonly host: Pick<MachineHost, 'nodeName' | 'hypervisor' | 'images' | 'uploads'> & {
    readonly workloads: Pick<WorkloadHost, 'containers' | 'images' | 'bundles'>;
  };
  readonly clock: Clock;
  readonly random: Random;
}

/** What the features add to the API. */
export function featureExtensions({
  handle,
  environment,
  host,
  ...surroundings
}: ExtensionOptions): ExtensionSet {
  const extensions = new ExtensionSet();
  const transport = inProcessTransport(handle, controllersUser);
  const client = new Client({ transport, userAgent: 'sheaf/actions' });
  extendByAddons(extensions);
  extendByKinds(extensions);
  extendByNamespaces(extensions);
  extendBySettings(extensions, { environment });
  extendByKeyPairs(extensions, { client, newKey });
  extendByTemplates(extensions);
  extendByNodes(extensions, { client });
  extendByStorage(extensions, { ...surroundings, client, host });
  extendByMachines(extensions, { ...surroundings, client, hypervisor: host.hypervisor });
  extendByBackups(extensions);
  extendByUpgrades(extensions);
  extendByCharts(extensions, { nodeName: host.nodeName, bundles: host.workloads.bundles });
  extendByWorkloads(extensions, { ...surroundings, ...host.workloads, client, nodeName: host.nodeName });
  return extensions;
}
