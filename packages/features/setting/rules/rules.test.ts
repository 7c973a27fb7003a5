import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmissionObjects, KubeObject } from '@sheaf/api';
import { SettingProblem } from '@sheaf/api/setting/index';
import type { Setting } from '@sheaf/api/virtualization/index';
import { findSetting } from '../setting-table.ts';
import { clusterNetwork, usableAddresses } from './cluster-network.ts';
import { ClusterProblem, type SettingChange } from './rule.ts';

const key = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIB8G6gTHJ3nu5CrZOxUJ6gBKCGAqBUFbHfS+1kGHcgqI
-----END PRIVATE KEY-----`;

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof SettingProblem, String(error));
    assert.notEqual(error.wayOut, '');
    return error.message;
  }
}

function problemIn(name: string, text: string): string | undefined {
  return problemOf(() => findSetting(name)?.rule?.(text));
}

const network = (fields: object): string =>
  JSON.stringify({ clusterNetwork: 'data', vlan: 100, range: '10.1.0.0/24', ...fields });

const right: readonly (readonly [name: string, text: string])[] = [
  ['auto-rotate-rke2-certs', '{"enable":true,"expiringInHours":8759}'],
  ['backup-target', '{"type":"nfs","endpoint":"nfs://host:/path","refreshIntervalInSeconds":60}'],
  ['cluster-registration-url', 'https://rancher.example/v3/import/x.yaml'],
  ['cluster-registration-url', '{"url":"","insecureSkipTLSVerify":true}'],
  ['containerd-registry', '{"Mirrors":{"docker.io":{}},"Configs":null,"Auths":null}'],
  ['csi-driver-config', '{"a":{"volumeSnapshotClassName":"b"}}'],
  ['http-proxy', '{"httpProxy":"http://p:3128"}'],
  ['instance-manager-resources', '{"cpu":{"v1":"40","v2":"0"}}'],
  ['kubeconfig-default-token-ttl-minutes', '52560000'],
  ['kubevirt-migration', '{"bandwidthPerMigration":"64Mi"}'],
  ['longhorn-v2-data-engine-memory-size', '4096'],
  ['ntp-servers', '{"ntpServers":["0.pool.ntp.org","10.0.0.1","fd00::1"]}'],
  ['rwx-network', `{"share-storage-network":false,"network":${network({})}}`],
  ['ssl-parameters', '{"protocols":"TLSv1.2   TLSv1.3","ciphers":"any"}'],
  ['storage-network', network({ exclude: ['10.1.0.0/28', '10.1.0.32/32'] })],
  ['storage-network', network({ vlan: 0 })],
  ['storage-network', network({ clusterNetwork: 'mgmt', vlan: 2, exclusiveVlan: true })],
  ['support-bundle-file-name', 'bundle-1'],
  ['support-bundle-timeout', '0'],
  ['vip-pools', '{"default":"10.1.0.0/24,10.2.0.0/24"}'],
];

const wrong: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
  ['additional-ca', 'no', /no list of certificates/],
  ['additional-ca', key, /block 1 is no certificate/],
  ['auto-rotate-rke2-certs', '{"enable":true,"expiringInHours":0}', /expiringInHours is 0/],
  ['auto-rotate-rke2-certs', '{"enable":true,"expiringInHours":8760}', /expiringInHours is 8760/],
  ['backup-target', '{"refreshIntervalInSeconds":-1}', /negative/],
  ['cluster-pod-security-standard', '{"enabled":"yes"}', /enabled is "yes"/],
  ['cluster-registration-url', 'rancher.example', /no URL/],
  ['containerd-registry', '{"Mirrors":[]}', /Mirrors is \[\]/],
  ['csi-driver-config', '{"driver.longhorn.io":{"volumeSnapshotClassName":"x"}}', /cannot be changed/],
  ['csi-online-expand-validation', '{"a":"true"}', /a is "true"/],
  ['http-proxy', '{"httpProxy":1}', /httpProxy is 1/],
  ['instance-manager-resources', '{"cpu":{"v1":"41"}}', /41 is out of range/],
  ['kubeconfig-default-token-ttl-minutes', '52560001', /out of range/],
  ['kubevirt-migration', '{"network":"a"}', /network is not for this setting/],
  ['kubevirt-migration', '{"nodeDrainTaintKey":"a"}', /nodeDrainTaintKey is not/],
  ['kubevirt-migration', '{"bandwidthPerMigration":"much"}', /no amount/],
  ['kubevirt-migration', '{"progressTimeout":-1}', /negative/],
  ['log-level', 'warn', /not known/],
  ['longhorn-v2-data-engine-memory-size', '2047', /odd/],
  ['longhorn-v2-data-engine-memory-size', '0', /out of range/],
  ['ntp-servers', '{"ntpServers":["ntp://a"]}', /is an URL/],
  ['ntp-servers', '{"ntpServers":["a","a"]}', /twice/],
  ['ntp-servers', '{"ntpServers":["a_b"]}', /neither an address/],
  ['rwx-network', '{"share":true}', /no field share/],
  ['rwx-network', `{"share-storage-network":false,"network":${network({ mtu: 1 })}}`, /no field mtu/],
  ['ssl-certificates', '{"publicCertificate":"a","privateKey":"b"}', /publicCertificate: it is no list/],
  ['ssl-parameters', '{"protocols":"TLSv9"}', /no protocol TLSv9/],
  ['storage-network', network({ clusterNetwork: '' }), /clusterNetwork is missing/],
  ['storage-network', network({ vlan: 4095 }), /vlan is 4095/],
  ['storage-network', network({ clusterNetwork: 'mgmt', vlan: 1 }), /vlan is 1/],
  ['storage-network', network({ vlan: 1, exclusiveVlan: true }), /exclusiveVlan/],
  ['storage-network', network({ range: '10.1.0.1/24' }), /an address within a network/],
  ['storage-network', network({ range: '10.0.0.0/15' }), /too large/],
  ['storage-network', network({ range: 'fd00::/64' }), /no IPv4 network/],
  ['storage-network', network({ exclude: ['10.2.0.0/28'] }), /no smaller part/],
  ['storage-network', network({ exclude: ['10.1.0.0/24'] }), /no smaller part/],
  ['storage-network', network({ exclude: ['10.1.0.0/28', '10.1.0.8/32'] }), /overlap/],
  ['support-bundle-file-name', 'Bundle', /RFC 1123/],
  ['support-bundle-image', '{"repository":"a","tag":"b"}', /imagePullPolicy missing/],
  ['support-bundle-timeout', '1.0', /no whole number/],
  ['traefik-default-tls-options', '{"minVersion":"VersionTLS13","maxVersion":"VersionTLS12"}', /above/],
  ['traefik-default-tls-options', '{"minVersion":"TLS13"}', /no version TLS13/],
  ['traefik-default-tls-options', '{"cipherSuites":["x"]}', /no cipher suite x/],
  ['traefik-default-tls-options', '{"clientAuth":{"clientAuthType":"x"}}', /not known/],
  ['ui-source', 'internal', /not known/],
  ['upgrade-config', '{"imagePreloadOption":{"strategy":{"type":"some"}}}', /type is "some"/],
  ['upgrade-config', '{"imagePreloadOption":{"strategy":{"concurrency":-1}}}', /negative/],
  ['upgrade-config', '{"nodeUpgradeOption":{"strategy":{"pauseNodes":["a","a"]}}}', /twice/],
  ['upgrade-config', '{"logReadyTimeout":"21"}', /out of range/],
  ['vip-pools', '{"default":"10.1.0.0"}', /no network/],
];

describe('values of settings', () => {
  for (const [name, text] of right)
    it(`${name} can be ${text}`, () => assert.equal(problemIn(name, text), undefined));
  for (const [name, text, problem] of wrong)
    it(`${name} cannot be ${text}`, () => assert.match(problemIn(name, text) ?? '', problem));
});

it('the addresses of a network that can be given out', () => {
  const usable = (fields: object): number => usableAddresses(clusterNetwork(network(fields)));
  assert.deepEqual(
    [usable({}), usable({ exclude: ['10.1.0.0/28'] }), usable({ exclude: ['10.1.0.16/28'] })],
    [254, 239, 238],
  );
  assert.deepEqual([usable({ range: '10.1.0.0/31' }), usable({ range: '10.1.0.0/32' })], [0, 0]);
});

interface World {
  readonly [resource: string]: readonly KubeObject[];
}

function objectsOf(world: World): AdmissionObjects {
  const list = (resource: string): readonly KubeObject[] => world[resource] ?? [];
  return {
    list: ({ resource }) => list(resource),
    find: ({ resource }, { namespace, name }) =>
      list(resource).find(
        ({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === (namespace ?? ''),
      ),
  };
}

interface Now {
  readonly old?: Partial<Setting>;
  readonly world?: World;
}

function problemNow(name: string, value: string, { old, world = {} }: Now = {}): unknown {
  const definition = findSetting(name) ?? assert.fail(`there is no setting ${name}`);
  const builtInDefault = definition.default;
  const setting = { metadata: { name }, value, default: builtInDefault };
  const before = old && { ...setting, value: '', ...old };
  const change: SettingChange = { setting, old: before, builtInDefault, objects: objectsOf(world) };
  try {
    definition.clusterRule?.(change);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof SettingProblem && error.wayOut !== '', String(error));
    return `${error instanceof ClusterProblem ? error.reason : 'Invalid'}: ${error.message}`;
  }
}

const machine = (name: string, status: string, runStrategy = 'Halted'): KubeObject => ({
  metadata: { namespace: 'default', name },
  spec: { runStrategy },
  status: { printableStatus: status },
});
const instance = (name: string, phase: string): KubeObject => ({
  metadata: { namespace: 'default', name },
  status: { phase },
});
const settingOf = (name: string, value: string): KubeObject => ({ metadata: { name }, value });
const node = (name: string, labels = {}): KubeObject => ({
  metadata: { name, labels },
  status: { addresses: [{ type: 'InternalIP', address: `10.9.0.${name}` }] },
});

describe('the storage network', () => {
  it('needs all machines to be stopped', () => {
    const running = { virtualmachines: [machine('a', 'Running'), machine('b', 'Stopped')] };
    const refusal = 'Invalid: virtual machines are not stopped: default/a';
    assert.equal(problemNow('storage-network', network({}), { world: running }), refusal);
    assert.equal(problemNow('storage-network', network({}), { world: running, old: {} }), refusal);
    assert.equal(problemNow('storage-network', '', { world: running, old: { value: network({}) } }), refusal);
  });

  it('takes a machine for stopped only if nothing of it is left', () => {
    const stopped = { virtualmachines: [machine('a', 'Stopped', 'Manual')] };
    const withInstance = (phase: string) => ({ ...stopped, virtualmachineinstances: [instance('a', phase)] });
    const problem = (world: World) => problemNow('storage-network', network({}), { world });
    assert.deepEqual(
      [problem(stopped), problem(withInstance('Succeeded')), problem(withInstance('Running'))],
      [undefined, undefined, 'Invalid: virtual machines are not stopped: default/a'],
    );
  });

  it('does not change under a change, but can be reset', () => {
    const old = {
      value: network({}),
      status: { conditions: [{ type: 'configured', status: 'False', reason: 'In Progress' }] },
    };
    assert.match(String(problemNow('storage-network', network({ vlan: 7 }), { old })), /^Conflict: /);
    assert.equal(problemNow('storage-network', '', { old }), undefined);
  });

  it('keeps apart from other networks', () => {
    const world = { settings: [settingOf('vm-migration-network', network({ range: '10.1.0.128/25' }))] };
    assert.match(
      String(problemNow('storage-network', network({}), { world })),
      /10\.1\.0\.0\/24 overlaps with 10\.1\.0\.128\/25 of the setting vm-migration-network/,
    );
    const config = JSON.stringify({ bridge: 'data-br', vlan: 100 });
    const used = {
      'network-attachment-definitions': [{ metadata: { namespace: 'n', name: 'v' }, spec: { config } }],
    };
    assert.match(
      String(problemNow('storage-network', network({ exclusiveVlan: true }), { world: used })),
      /vlan 100 is used by the network n\/v/,
    );
    assert.equal(problemNow('storage-network', network({}), { world: used }), undefined);
  });

  it('stays while shared volumes use it, and has room for them', () => {
    const world = {
      settings: [settingOf('rwx-network', '{"share-storage-network":true}')],
      nodes: [node('1')],
    };
    const old = { value: network({}) };
    assert.match(String(problemNow('storage-network', '', { old, world })), /rwx-network uses/);
    const small = network({ range: '10.1.0.0/27' });
    assert.match(
      String(problemNow('storage-network', small, { world })),
      /30 usable addresses, but 33 are needed/,
    );
  });
});

describe('what the cluster allows', () => {
  it('shared volumes share only a network that is there', () => {
    const shared = '{"share-storage-network":true}';
    assert.match(String(problemNow('rwx-network', shared, { old: {} })), /no storage network/);
    const world = { settings: [settingOf('storage-network', network({}))] };
    assert.equal(problemNow('rwx-network', shared, { old: {}, world }), undefined);
  });

  it('how machines move does not change while one moves', () => {
    const world = { virtualmachineinstancemigrations: [instance('m', 'Running'), instance('n', 'Failed')] };
    for (const [name, text] of [
      ['kubevirt-migration', '{}'],
      ['vm-migration-network', network({})],
    ] as const) {
      assert.equal(problemNow(name, text, { world }), 'BadRequest: machines are moving: default/m');
      assert.equal(problemNow(name, text), undefined);
    }
  });

  it('machines move over a network with an address for each node that has machines', () => {
    const witness = node('3', { 'node-role.harvesterhci.io/witness': 'true' });
    const text = network({ range: '10.1.0.0/30' });
    const problem = (...nodes: KubeObject[]) =>
      problemNow('vm-migration-network', text, { world: { nodes } });
    assert.equal(problem(node('1'), node('2'), witness), undefined);
    assert.match(String(problem(node('1'), node('2'), node('4'))), /2 usable addresses, but 3/);
  });

  it('a proxy spares the nodes', () => {
    const world = { nodes: [node('1'), node('2')] };
    const problem = (noProxy: string) =>
      problemNow('http-proxy', JSON.stringify({ httpProxy: 'http://p', noProxy }), { world });
    assert.match(String(problem('10.9.0.1')), /does not cover the nodes 10\.9\.0\.2/);
    assert.deepEqual([problem('10.9.0.1, 10.9.0.2'), problem('10.9.0.0/24')], [undefined, undefined]);
    assert.equal(problemNow('http-proxy', '{"noProxy":"x"}', { world }), undefined);
  });

  it('names that things are there by', () => {
    const world = { volumesnapshotclasses: [{ metadata: { name: 'fast' } }], nodes: [node('1')] };
    assert.match(
      String(problemNow('volume-snapshot-class', 'slow', { world })),
      /no VolumeSnapshotClass slow/,
    );
    assert.equal(problemNow('volume-snapshot-class', 'fast', { world }), undefined);
    const paused = (name: string) => `{"nodeUpgradeOption":{"strategy":{"pauseNodes":["${name}"]}}}`;
    assert.match(String(problemNow('upgrade-config', paused('2'), { world })), /has 2, which are no nodes/);
    assert.equal(problemNow('upgrade-config', paused('1'), { world }), undefined);
    const removes = '{"removeUpstreamClusterWhenNamespaceIsDeleted":true}';
    const metadata = { namespace: 'harvester-system', name: 'rancher-cluster-config' };
    const secrets = [{ metadata, data: { kubeConfig: 'eA==' } }];
    assert.match(String(problemNow('rancher-cluster', removes)), /not known/);
    assert.equal(problemNow('rancher-cluster', removes, { world: { secrets } }), undefined);
  });
});

describe('the backup target', () => {
  const s3 = {
    type: 's3',
    accessKeyId: 'a',
    secretAccessKey: 'b',
    bucketName: 'c',
    bucketRegion: 'd',
  };
  const problem = (target: object, rest = {}) => problemNow('backup-target', JSON.stringify(target), rest);

  it('has what its type needs, and nothing else', () => {
    const nfs = { type: 'nfs', endpoint: 'nfs://h:/p' };
    assert.deepEqual([problem(s3), problem(nfs), problem({})], [undefined, undefined, undefined]);
    for (const target of [
      { ...s3, bucketRegion: '' },
      { ...nfs, accessKeyId: 'a' },
      { type: 'nfs' },
      { type: 'x' },
    ])
      assert.equal(problem(target), 'Invalid: the target is not complete');
  });

  it('loses its keys without a check, and nothing else', () => {
    const old = { value: JSON.stringify(s3) };
    const { accessKeyId: _, secretAccessKey: __, ...bare } = s3;
    assert.equal(problem(bare, { old }), undefined);
    assert.match(String(problem({ ...bare, bucketName: 'other' }, { old })), /not complete/);
  });

  it('stays while it is in use', () => {
    const going = { metadata: { name: 'b', deletionTimestamp: 'now' }, status: { readyToUse: true } };
    const ready = { metadata: { name: 'b' }, status: { readyToUse: true } };
    const restore = { metadata: { name: 'r' }, status: { complete: false } };
    assert.match(
      String(problem({}, { world: { virtualmachinebackups: [going] } })),
      /^BadRequest: backups are being/,
    );
    assert.match(
      String(problem({}, { world: { virtualmachinerestores: [restore] } })),
      /^BadRequest: backups are being restored/,
    );
    assert.equal(problem({}, { world: { virtualmachinebackups: [ready] } }), undefined);
  });
});
