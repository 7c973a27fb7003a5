import {
  booleanField,
  integerField,
  jsonObjectOf,
  objectField,
  parseInteger,
  SettingProblem,
  stringField,
  stringsField,
} from '@sheaf/api/setting/index';
import { isJsonObject, type JsonObject, ownField, parseQuantity, QuantitySyntaxError } from '@sheaf/base';
import type { ClusterRule } from './rule.ts';

/** When certificates are made anew: hours before they end. */
export function certificateRotation(text: string): void {
  const object = jsonObjectOf(text);
  booleanField(object, 'enable');
  const hours = integerField(object, 'expiringInHours');
  if (hours < 1 || hours > 8759)
    throw new SettingProblem(`expiringInHours is ${hours}`, 'Write a number of hours from 1 to 8759.');
}

export function podSecurity(text: string): void {
  const object = jsonObjectOf(text);
  booleanField(object, 'enabled');
  for (const level of ['whitelisted', 'privileged', 'restricted'])
    stringField(object, `${level}NamespacesList`);
}

/** Mirrors, their settings, and who may log in. */
export function containerRegistries(text: string): void {
  const object = jsonObjectOf(text);
  for (const field of ['Mirrors', 'Configs', 'Auths']) objectField(object, field);
}

const builtInDriver = 'driver.longhorn.io';

/** Which snapshot classes go with a storage driver. The built-in one keeps its own. */
export function storageDrivers(text: string): void {
  const object = jsonObjectOf(text);
  for (const driver of Object.keys(object)) {
    const entry = objectField(object, driver);
    const classes = [
      stringField(entry, 'volumeSnapshotClassName'),
      stringField(entry, 'backupVolumeSnapshotClassName'),
    ];
    if (driver === builtInDriver && classes.join() !== 'longhorn-snapshot,longhorn')
      throw new SettingProblem(
        `the classes of ${builtInDriver} cannot be changed`,
        `Leave ${builtInDriver} out; other drivers are added to it.`,
      );
  }
}

/** Which storage drivers let a volume grow while it is in use. */
export function onlineGrowth(text: string): void {
  const object = jsonObjectOf(text);
  for (const driver of Object.keys(object)) booleanField(object, driver);
}

/** The share of the processors that storage keeps for itself, in percent, for each data engine. */
export function storageProcessors(text: string): void {
  const cpu = objectField(jsonObjectOf(text), 'cpu');
  for (const engine of ['v1', 'v2']) {
    const share = stringField(cpu, engine);
    if (share !== '') parseInteger(share, { min: 0, max: 40 });
  }
}

const migrationCounts = [
  'parallelOutboundMigrationsPerNode',
  'parallelMigrationsPerCluster',
  'completionTimeoutPerGiB',
  'progressTimeout',
];
const migrationFlags = [
  'allowAutoConverge',
  'unsafeMigrationOverride',
  'allowPostCopy',
  'allowWorkloadDisruption',
  'disableTLS',
  'matchSELinuxLevelOnMigration',
];
const keptFields = ['nodeDrainTaintKey', 'network'];

/** How machines move, in KubeVirt's words. */
export function migrationConfig(text: string): void {
  const object = jsonObjectOf(text);
  const kept = keptFields.find((field) => ownField(object, field) !== undefined);
  if (kept !== undefined)
    throw new SettingProblem(
      `${kept} is not for this setting`,
      kept === 'network' ? 'Use the setting vm-migration-network.' : 'Leave it out.',
    );
  for (const field of migrationCounts)
    if (integerField(object, field) < 0) throw new SettingProblem(`${field} is negative`, 'Write 0 or more.');
  for (const field of migrationFlags) booleanField(object, field);
  checkBandwidth(object);
}

function checkBandwidth(object: JsonObject): void {
  const bandwidth = ownField(object, 'bandwidthPerMigration') ?? 0;
  if (typeof bandwidth !== 'object' && isQuantity(String(bandwidth))) return;
  throw new SettingProblem(
    `bandwidthPerMigration ${JSON.stringify(bandwidth)} is no amount`,
    'Write bytes for each second, such as "64Mi", or "0" for no limit.',
  );
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (error instanceof QuantitySyntaxError) return false;
    throw error;
  }
}

export function rancherCluster(text: string): { readonly removesCluster: boolean } {
  return {
    removesCluster: booleanField(jsonObjectOf(text), 'removeUpstreamClusterWhenNamespaceIsDeleted'),
  };
}

/** To remove the cluster elsewhere one needs the way in. */
export const rancherClusterHasAccess: ClusterRule = ({ setting, objects }) => {
  if (!setting.value || !rancherCluster(setting.value).removesCluster) return;
  const place = { namespace: 'harvester-system', name: 'rancher-cluster-config' };
  const data = objects.find({ group: '', resource: 'secrets' }, place)?.['data'];
  if (isJsonObject(data) && data['kubeConfig']) return;
  throw new SettingProblem(
    'the way to the other cluster is not known',
    'Make the Secret harvester-system/rancher-cluster-config with the key kubeConfig first.',
  );
};

export function containerImage(text: string): void {
  const object = jsonObjectOf(text);
  const missing = ['repository', 'tag', 'imagePullPolicy'].filter(
    (field) => stringField(object, field) === '',
  );
  // "{}" is the default itself.
  if (missing.length > 0 && Object.keys(object).length > 0)
    throw new SettingProblem(`${missing.join(', ')} missing`, 'Give repository, tag and imagePullPolicy.');
}

export const snapshotClassExists: ClusterRule = ({ setting, objects }) => {
  if (!setting.value) return;
  const place = { group: 'snapshot.storage.k8s.io', resource: 'volumesnapshotclasses' };
  if (objects.find(place, { name: setting.value })) return;
  const known = objects.list(place).map(({ metadata }) => metadata.name);
  throw new SettingProblem(
    `there is no VolumeSnapshotClass ${setting.value}`,
    known.length > 0 ? `Use ${known.join(', ')}.` : 'Make the class first.',
  );
};

const preloads = ['skip', 'sequential', 'parallel'];
const nodeModes = ['auto', 'manual'];

export function upgradeConfig(text: string): { readonly pausedNodes: readonly string[] } {
  const object = jsonObjectOf(text);
  const preload = objectField(objectField(object, 'imagePreloadOption'), 'strategy');
  const nodes = objectField(objectField(object, 'nodeUpgradeOption'), 'strategy');
  known('imagePreloadOption.strategy.type', stringField(preload, 'type'), preloads);
  if (integerField(preload, 'concurrency') < 0)
    throw new SettingProblem('concurrency is negative', 'Write the number of nodes, or 0 for all.');
  known('nodeUpgradeOption.strategy.mode', stringField(nodes, 'mode'), nodeModes);
  booleanField(object, 'restoreVM');
  const timeout = stringField(object, 'logReadyTimeout');
  if (timeout !== '') parseInteger(timeout, { min: 1, max: 20 });
  const pausedNodes = stringsField(nodes, 'pauseNodes');
  const twice = pausedNodes.find((node, index) => pausedNodes.indexOf(node) !== index);
  if (twice !== undefined) throw new SettingProblem(`pauseNodes has ${twice} twice`, 'Name each node once.');
  return { pausedNodes };
}

function known(field: string, value: string, values: readonly string[]): void {
  if (value !== '' && !values.includes(value))
    throw new SettingProblem(`${field} is ${JSON.stringify(value)}`, `Use ${values.join(', ')}.`);
}

export const pausedNodesExist: ClusterRule = ({ setting, objects }) => {
  if (!setting.value) return;
  const nodes = objects.list({ group: '', resource: 'nodes' }).map(({ metadata }) => metadata.name);
  const unknown = upgradeConfig(setting.value).pausedNodes.filter((node) => !nodes.includes(node));
  if (unknown.length > 0)
    throw new SettingProblem(
      `pauseNodes has ${unknown.join(', ')}, which are no nodes`,
      'Use the names that kubectl get nodes shows.',
    );
};
