import type { AdmissionObjects, KubeObject } from '@sheaf/api';
import { effectiveText, SettingProblem } from '@sheaf/api/setting/index';
import type { NetworkAttachmentDefinition, Setting } from '@sheaf/api/virtualization/index';
import { isJsonObject } from '@sheaf/base';
import {
  type ClusterNetwork,
  clusterNetwork,
  networksOverlap,
  type SharedNetwork,
  sharedNetwork,
  usableAddresses,
} from './cluster-network.ts';
import { listed, openMigrations, runningMachines } from './machine-usage.ts';
import { ClusterProblem, type ClusterRule, type SettingChange } from './rule.ts';

/** What volumes that many machines share need beside one address for each node. */
const sharedVolumeAddresses = 32;
const settings = { group: 'harvesterhci.io', resource: 'settings' };
const readers: Readonly<Record<string, (text: string) => ClusterNetwork | undefined>> = {
  'storage-network': clusterNetwork,
  'vm-migration-network': clusterNetwork,
  'rwx-network': (text) => sharedNetwork(text).network,
};

/** A change of the network of volumes stops all traffic to disks: every machine must be stopped. */
export const storageNetworkChange: ClusterRule = (change) => {
  const { setting, old, objects } = change;
  if (old) refuseWhileInProgress(change);
  const isShared = isSharedNow(objects);
  if (old && !setting.value && isShared)
    throw new SettingProblem(
      'rwx-network uses the network of storage-network',
      'Set share-storage-network of the setting rwx-network to false first.',
    );
  const network = networkIn(setting);
  if (network) checkNetwork(change, network, isShared ? nodeCount(objects) + sharedVolumeAddresses : 0);
  refuseWhileMachinesRun(objects);
};

/** The network of volumes that many machines share. */
export const sharedNetworkChange: ClusterRule = (change) => {
  const { setting, old, objects } = change;
  if (old) refuseWhileInProgress(change);
  const { isShared, network } = sharedIn(setting);
  if (isShared && !(old && sharedIn(old).isShared) && !hasStorageNetwork(objects))
    throw new SettingProblem(
      'share-storage-network is set, but there is no storage network',
      'Set the setting storage-network first, or give rwx-network a network of its own.',
    );
  if (network) checkNetwork(change, network, nodeCount(objects) + sharedVolumeAddresses);
};

/** The network that machines move over. */
export const migrationNetworkChange: ClusterRule = (change) => {
  const open = openMigrations(change.objects);
  if (open.length > 0)
    throw new ClusterProblem(
      'BadRequest',
      `machines are moving: ${listed(open)}`,
      'Wait until they have arrived, or delete the migrations, and try again.',
    );
  const network = networkIn(change.setting);
  if (network) checkNetwork(change, network, nodeCount(change.objects));
};

/** How machines move cannot change under one that does. */
export const noOpenMigration: ClusterRule = ({ objects }) => {
  const open = openMigrations(objects);
  if (open.length > 0)
    throw new ClusterProblem(
      'BadRequest',
      `machines are moving: ${listed(open)}`,
      'Wait until they have arrived, or delete the migrations, and try again.',
    );
};

function refuseWhileInProgress({ setting, old, builtInDefault }: SettingChange): void {
  const isReset = [setting.value || builtInDefault, setting.default ?? ''].every(
    (text) => text === builtInDefault,
  );
  const condition = old?.status?.conditions?.find(({ type }) => type === 'configured');
  if (isReset || condition?.status !== 'False' || condition.reason !== 'In Progress') return;
  throw new ClusterProblem(
    'Conflict',
    'the last change of this setting is still being made',
    'Wait until its condition configured is True, or reset it to the default.',
  );
}

function refuseWhileMachinesRun(objects: AdmissionObjects): void {
  const running = runningMachines(objects);
  if (running.length > 0)
    throw new SettingProblem(
      `virtual machines are not stopped: ${listed(running)}`,
      'Stop all virtual machines before you configure the storage network, and start them afterwards.',
    );
}

function checkNetwork(change: SettingChange, network: ClusterNetwork, needed: number): void {
  const { setting, objects } = change;
  const usable = usableAddresses(network);
  if (usable < needed)
    throw new SettingProblem(
      `range has ${usable} usable addresses, but ${needed} are needed`,
      'Choose a larger range, or exclude less of it.',
    );
  for (const other of objects.list(settings)) {
    if (other.metadata.name === setting.metadata.name) continue;
    const taken = networkIn(other);
    if (taken && networksOverlap(network, taken))
      throw new SettingProblem(
        `range ${network.range.text} overlaps with ${taken.range.text} of the setting ${other.metadata.name}`,
        'Choose addresses that neither of the cluster’s own networks has.',
      );
  }
  if (network.exclusiveVlan) refuseTakenVlan(network, objects);
}

function refuseTakenVlan({ clusterNetwork: name, vlan }: ClusterNetwork, objects: AdmissionObjects): void {
  const user = objects
    .list({ group: 'k8s.cni.cncf.io', resource: 'network-attachment-definitions' })
    .find((definition) => usesVlan(definition as NetworkAttachmentDefinition, `${name}-br`, vlan));
  if (user)
    throw new SettingProblem(
      `vlan ${vlan} is used by the network ${user.metadata.namespace}/${user.metadata.name}`,
      'Choose another vlan, or set exclusiveVlan to false.',
    );
}

function usesVlan(definition: NetworkAttachmentDefinition, bridge: string, vlan: number): boolean {
  const isOwn = Object.keys(definition.metadata.annotations ?? {}).some((key) =>
    key.endsWith('-network.settings.harvesterhci.io'),
  );
  const config = configOf(definition);
  return !isOwn && config?.['bridge'] === bridge && config['vlan'] === vlan;
}

function configOf(definition: KubeObject): Readonly<Record<string, unknown>> | undefined {
  const text = (definition as NetworkAttachmentDefinition).spec?.config ?? '';
  try {
    const config: unknown = JSON.parse(text);
    return isJsonObject(config) ? config : undefined;
  } catch {
    // Whoever made it is told elsewhere; it uses no vlan.
    return undefined;
  }
}

/** Nodes that can have machines; a witness only votes. */
function nodeCount(objects: AdmissionObjects): number {
  const isWitness = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.['node-role.harvesterhci.io/witness'] === 'true';
  return objects.list({ group: '', resource: 'nodes' }).filter((node) => !isWitness(node)).length;
}

function isSharedNow(objects: AdmissionObjects): boolean {
  const setting = objects.find(settings, { name: 'rwx-network' });
  return setting !== undefined && sharedIn(setting).isShared;
}

function hasStorageNetwork(objects: AdmissionObjects): boolean {
  const setting = objects.find(settings, { name: 'storage-network' });
  return setting !== undefined && effectiveText(setting) !== '';
}

function sharedIn(setting: Setting): SharedNetwork {
  const none = { isShared: false, network: undefined };
  return orNothing(() => sharedNetwork(effectiveText(setting))) ?? none;
}

/** The network that a setting names; none where it says nothing that can be read: that is refused where it is written. */
function networkIn(setting: Setting): ClusterNetwork | undefined {
  const read = readers[setting.metadata.name ?? ''];
  const text = effectiveText(setting);
  return read && text !== '' ? orNothing(() => read(text)) : undefined;
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SettingProblem) return undefined;
    throw error;
  }
}
