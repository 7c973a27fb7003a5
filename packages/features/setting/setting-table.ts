import {
  forceResetPolicy,
  maxHotplugRatio,
  memoryOverheadRatio,
  overcommitConfig,
  type SettingFormat,
  terminationGracePeriod,
} from '@sheaf/api/setting/index';
import {
  addressPools,
  proxy,
  proxySparesNodes,
  registrationUrl,
  timeServers,
} from './rules/address-rules.ts';
import { backupTarget, backupTargetChange } from './rules/backup-target.ts';
import { certificates, servingCertificates } from './rules/certificate-rules.ts';
import { clusterNetwork, sharedNetwork } from './rules/cluster-network.ts';
import {
  certificateRotation,
  containerImage,
  containerRegistries,
  migrationConfig,
  onlineGrowth,
  pausedNodesExist,
  podSecurity,
  rancherCluster,
  rancherClusterHasAccess,
  snapshotClassExists,
  storageDrivers,
  storageProcessors,
  upgradeConfig,
} from './rules/document-rules.ts';
import {
  migrationNetworkChange,
  noOpenMigration,
  sharedNetworkChange,
  storageNetworkChange,
} from './rules/network-change.ts';
import type { ClusterRule, TextRule } from './rules/rule.ts';
import { dnsLabel, evenMebibytes, oneOf, wholeNumber } from './rules/text-rules.ts';
import { sslParameters, tlsOptions } from './rules/tls-rules.ts';

/** What becomes of a setting in this release. */
export type SettingUse =
  /** Parts of Sheaf go by it, from the next thing that they do. */
  | { readonly kind: 'read'; readonly effect: string }
  /** Clients read it; the server itself does not go by it. */
  | { readonly kind: 'told' }
  /** It is kept and checked, but what it is for is not there. */
  | { readonly kind: 'kept'; readonly capability: string };

export interface SettingDefinition {
  readonly name: string;
  readonly default: string;
  readonly use: SettingUse;
  readonly rule?: TextRule;
  readonly clusterRule?: ClusterRule;
  /** Kept even by those who may delete settings. */
  readonly isPermanent?: boolean;
  /** It is acted on also while it was never set. */
  readonly isAppliedAtStart?: boolean;
}

const told: SettingUse = { kind: 'told' };

function kept(capability: string): SettingUse {
  return { kind: 'kept', capability };
}

function define(
  name: string,
  use: SettingUse,
  rest: Omit<SettingDefinition, 'name' | 'use' | 'default'> & { readonly default?: string } = {},
): SettingDefinition {
  return { default: '', ...rest, name, use };
}

function machineSetting(
  format: SettingFormat<unknown>,
  effect: string,
  rest: Pick<SettingDefinition, 'isAppliedAtStart'> = {},
): SettingDefinition {
  return define(
    format.name,
    { kind: 'read', effect },
    { default: format.default, rule: (text) => format.parse(text), ...rest },
  );
}

const addons = kept('starting containers');
const bundles = kept('support bundles');
const ingress = kept('the ingress');
const interfaces = kept('the web page');
const rancher = kept('being managed by Rancher');
const replicated = kept('replicated storage');
const upgrades = kept('upgrades by this API');
const minutes = wholeNumber(0);
const flag = oneOf('true', 'false');
const releases = 'https://releases.rancher.com';
const chartVersions = '>=0.0.1 <0.3.0';

/** Every setting of the cluster, in the order of their names. */
export const settingTable: readonly SettingDefinition[] = [
  define(
    'additional-ca',
    { kind: 'read', effect: 'images are also downloaded from servers that these authorities vouch for' },
    { rule: certificates },
  ),
  machineSetting(
    memoryOverheadRatio,
    'with 0, new machines leave some of their memory to the process around the guest',
    { isAppliedAtStart: true },
  ),
  define('api-ui-version', told, { default: '1.1.9' }),
  define('auto-disk-provision-paths', replicated),
  define('auto-rotate-rke2-certs', kept('rotating certificates by this setting; they renew themselves'), {
    default: '{"enable":false,"expiringInHours":240}',
    rule: certificateRotation,
  }),
  define('backup-target', kept('backups'), { rule: backupTarget, clusterRule: backupTargetChange }),
  define('cluster-pod-security-standard', kept('labelling namespaces for Pod Security'), {
    default:
      '{"enabled":false,"whitelistedNamespacesList":"","privilegedNamespacesList":"","restrictedNamespacesList":""}',
    rule: podSecurity,
    isPermanent: true,
  }),
  define('cluster-registration-url', rancher, {
    default: '{"url":"","insecureSkipTLSVerify":false}',
    rule: registrationUrl,
  }),
  define('containerd-registry', addons, { rule: containerRegistries }),
  define('csi-driver-config', kept('snapshots by storage drivers'), {
    default:
      '{"driver.longhorn.io":{"volumeSnapshotClassName":"longhorn-snapshot","backupVolumeSnapshotClassName":"longhorn"}}',
    rule: storageDrivers,
  }),
  define('csi-online-expand-validation', kept('growing volumes in use, by storage driver'), {
    default: '{"driver.longhorn.io":true}',
    rule: onlineGrowth,
  }),
  define('default-storage-class', told, { default: 'longhorn' }),
  machineSetting(terminationGracePeriod, 'new machines that say nothing get this time'),
  define('harvester-csi-ccm-versions', told, {
    default: `{"harvester-cloud-provider":"${chartVersions}","harvester-csi-provider":"${chartVersions}"}`,
  }),
  define('http-proxy', kept('reaching out through a proxy'), {
    default: '{}',
    rule: proxy,
    clusterRule: proxySparesNodes,
  }),
  define('instance-manager-resources', replicated, {
    default: '{"cpu":{}}',
    rule: storageProcessors,
    isPermanent: true,
  }),
  define('kubeconfig-default-token-ttl-minutes', kept('tokens of kubeconfigs'), {
    default: '0',
    rule: wholeNumber(0, 52_560_000),
    isAppliedAtStart: true,
  }),
  define('kubevirt-migration', kept('live migration'), {
    default:
      '{"parallelOutboundMigrationsPerNode":2,"parallelMigrationsPerCluster":5,"allowAutoConverge":false,"bandwidthPerMigration":"0","completionTimeoutPerGiB":150,"progressTimeout":150,"unsafeMigrationOverride":false,"allowPostCopy":false,"allowWorkloadDisruption":false,"disableTLS":false,"matchSELinuxLevelOnMigration":false}',
    rule: migrationConfig,
    clusterRule: noOpenMigration,
  }),
  define('log-level', kept('changing the log level while the server runs; start it with --log-level'), {
    default: 'info',
    rule: oneOf('info', 'debug', 'trace'),
  }),
  define('longhorn-v2-data-engine-enabled', replicated, { default: 'false', rule: flag }),
  define('longhorn-v2-data-engine-hugepage-enabled', replicated, { default: 'true', rule: flag }),
  define('longhorn-v2-data-engine-memory-size', replicated, { default: '2048', rule: evenMebibytes }),
  machineSetting(maxHotplugRatio, 'new machines can grow so many times while they run'),
  define('ntp-servers', kept('setting the clocks of hosts'), { rule: timeServers }),
  machineSetting(overcommitConfig, 'machines reserve cpu and memory by it, volumes room on disk', {
    isAppliedAtStart: true,
  }),
  define('rancher-cluster', rancher, {
    default: '{}',
    rule: rancherCluster,
    clusterRule: rancherClusterHasAccess,
  }),
  define('release-download-url', upgrades, { default: `${releases}/harvester` }),
  define('rwx-network', replicated, {
    default: '{"share-storage-network":false}',
    rule: sharedNetwork,
    clusterRule: sharedNetworkChange,
    isPermanent: true,
  }),
  define('server-version', told, { default: 'dev' }),
  define('ssl-certificates', ingress, { default: '{}', rule: servingCertificates, isAppliedAtStart: true }),
  define('ssl-parameters', ingress, { default: '{}', rule: sslParameters }),
  define('storage-network', replicated, {
    rule: clusterNetwork,
    clusterRule: storageNetworkChange,
    isPermanent: true,
  }),
  define('support-bundle-expiration', bundles, { default: '30', rule: minutes }),
  define('support-bundle-file-name', bundles, { rule: dnsLabel }),
  define('support-bundle-image', bundles, { default: '{}', rule: containerImage }),
  define('support-bundle-namespaces', bundles),
  define('support-bundle-node-collection-timeout', bundles, { default: '30', rule: minutes }),
  define('support-bundle-timeout', bundles, { default: '50', rule: minutes }),
  define('traefik-default-tls-options', ingress, {
    default:
      '{"minVersion":"VersionTLS12","maxVersion":"VersionTLS13","sniStrict":false,"cipherSuites":[],"clientAuth":{"secretNames":[],"clientAuthType":""}}',
    rule: tlsOptions,
    isAppliedAtStart: true,
  }),
  define('ui-index', interfaces, { default: `${releases}/harvester-ui/dashboard/latest/index.html` }),
  define('ui-path', interfaces, { default: '/usr/share/harvester/harvester' }),
  define('ui-plugin-index', interfaces, {
    default: `${releases}/harvester-ui/plugin/harvester-latest/harvester-latest.umd.min.js`,
  }),
  define('ui-source', interfaces, { default: 'auto', rule: oneOf('auto', 'external', 'bundled') }),
  define('upgradable-versions', upgrades),
  define('upgrade-checker-enabled', upgrades, { default: 'true' }),
  define('upgrade-checker-url', upgrades, {
    default: 'https://harvester-upgrade-responder.rancher.io/v1/checkupgrade',
  }),
  define('upgrade-config', upgrades, {
    default:
      '{"imagePreloadOption":{"strategy":{"type":"sequential"}},"nodeUpgradeOption":{"strategy":{"mode":"auto"}},"restoreVM":false,"logReadyTimeout":"5"}',
    rule: upgradeConfig,
    clusterRule: pausedNodesExist,
  }),
  define('vip-pools', kept('addresses of load balancers'), { rule: addressPools }),
  define(
    forceResetPolicy.name,
    kept('another node, on which the machines of a silent one would start again'),
    {
      default: forceResetPolicy.default,
      rule: (text) => forceResetPolicy.parse(text),
    },
  ),
  define('vm-migration-network', kept('live migration'), {
    rule: clusterNetwork,
    clusterRule: migrationNetworkChange,
    isPermanent: true,
  }),
  define('volume-snapshot-class', kept('snapshots by storage drivers'), {
    default: 'longhorn',
    clusterRule: snapshotClassExists,
  }),
];

const byName = new Map(settingTable.map((definition) => [definition.name, definition]));

export function findSetting(name: string | undefined): SettingDefinition | undefined {
  return byName.get(name ?? '');
}
