import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmissionContext, AdmissionVerdict, KubeObject } from '@sheaf/api';
import type { Addon } from '@sheaf/api/virtualization/index';
import { addonRule } from './admission.ts';

type Kept = Readonly<Record<string, readonly object[]>>;

function contextOf(kept: Kept): AdmissionContext {
  const list = (resource: string, namespace?: string): readonly KubeObject[] =>
    ((kept[resource] ?? []) as readonly KubeObject[]).filter(
      ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
    );
  const objects: AdmissionContext['objects'] = {
    list: ({ resource }, namespace) => list(resource, namespace),
    find: ({ resource }, { name }) => list(resource).find(({ metadata }) => metadata.name === name),
  };
  return { objects } as AdmissionContext;
}

function addon(
  name: string,
  spec: Partial<Addon['spec']> = {},
  metadata: Partial<Addon['metadata']> = {},
): Addon {
  return {
    metadata: { namespace: name === 'rancher-vcluster' ? name : 'default', name, ...metadata },
    spec: { repo: 'r', chart: name, version: '1', enabled: false, valuesContent: '', ...spec },
  };
}

async function verdict(object: Addon | undefined, old: Addon | undefined, kept: Kept = {}): Promise<string> {
  const { validate } = addonRule;
  assert.ok(validate);
  const given: AdmissionVerdict = await validate(object, old, contextOf(kept));
  if (given.decision === 'deny') return `${given.reason}: ${given.message}. ${given.wayOut}`;
  return [given.decision, ...(given.warnings ?? [])].join(' ');
}

const on = { enabled: true };
const off = { enabled: false };

describe('add-ons that are made and deleted', () => {
  it('have a chart of their own', async () => {
    const other = { addons: [addon('other', { chart: 'web' })] };
    assert.match(
      await verdict(addon('web'), undefined, other),
      /^Conflict: the chart web is that of the add-on default\/other/,
    );
    assert.equal(await verdict(addon('web'), undefined, { addons: [addon('other')] }), 'allow');
  });

  it('have a name that fits into that of a Job', async () => {
    assert.match(
      await verdict(addon('x'.repeat(51)), undefined),
      /^Invalid: metadata.name: the name of an add-on has at most 50 characters, .* has 51. Give it a shorter name/,
    );
    assert.equal(await verdict(addon('x'.repeat(50)), undefined), 'allow');
  });

  it('go only if they are experimental, and some never', async () => {
    const labels = { 'addon.harvesterhci.io/experimental': 'true' };
    assert.match(await verdict(undefined, addon('web')), /^BadRequest: .*cannot be deleted. Disable it/);
    assert.equal(await verdict(undefined, addon('web', {}, { labels })), 'allow');
    for (const name of ['rancher-monitoring', 'rancher-logging', 'kubeovn-operator'])
      assert.match(await verdict(undefined, addon(name, {}, { labels })), /^BadRequest/);
  });
});

describe('add-ons that are changed', () => {
  it('keep their chart', async () => {
    assert.match(
      await verdict(addon('web', { chart: 'x' }), addon('web')),
      /^BadRequest: the chart .* cannot be changed: it is web/,
    );
  });

  it('take another wish in the middle of an operation, which is named', async () => {
    const conditions = [{ type: 'InProgress', status: 'True', message: 'its installation is at work' }];
    const old: Addon = { ...addon('web', on), status: { status: 'AddonEnabling', conditions } };
    assert.equal(
      await verdict(addon('web', off), old),
      'allow an existing operation is in progress on addon web: its installation is at work; this change follows it',
    );
    assert.equal(await verdict(addon('web', on), old), 'allow');
    const resting: Addon = { ...old, status: { conditions: [{ type: 'InProgress', status: 'False' }] } };
    assert.equal(await verdict(addon('web', off), resting), 'allow');
  });
});

describe('the rules of single add-ons', () => {
  const vcluster = (valuesContent: string, version = 'v0.30.0'): Addon =>
    addon('rancher-vcluster', { ...on, valuesContent, version });
  const machine = (devices: object): object => ({
    metadata: { namespace: 'default', name: 'm' },
    spec: { template: { spec: { domain: { devices } } } },
  });
  const device = { hostDevices: [{ name: 'd', deviceName: 'x' }] };
  const gpu = { metadata: { name: 'g', labels: { 'harvesterhci.io/parentSRIOVGPUDevice': 'p' } } };
  const log = { metadata: { namespace: 'harvester-system', name: 'l' }, spec: {} };
  const flow = { metadata: { namespace: 'default', name: 'f' }, spec: { localOutputRefs: ['o'] } };
  const output = { metadata: { namespace: 'default', name: 'o' } };
  const clusterFlow = { metadata: { namespace: 'x', name: 'f' }, spec: { globalOutputRefs: ['c'] } };
  const lvm = { metadata: { name: 'lvm' }, provisioner: 'lvm.driver.harvesterhci.io' };
  const ofHelm = { ...lvm, metadata: { name: 'lvm', labels: { 'app.kubernetes.io/managed-by': 'Helm' } } };
  const claim = { metadata: { namespace: 'default', name: 'c' }, spec: { storageClassName: 'lvm' } };
  const annotated = (name: string, annotation: string, spec: object): Addon =>
    addon(name, spec, { annotations: { [annotation]: 'true' } });
  const cases: readonly [string, Addon, Addon, Kept, RegExp][] = [
    [
      'a host name',
      vcluster('global: {hostname: rancher.example.org}'),
      addon('rancher-vcluster'),
      {},
      /^allow$/,
    ],
    ['no host name', vcluster(''), addon('rancher-vcluster'), {}, /global.hostname is no full domain name/],
    [
      'an address',
      vcluster('global: {hostname: 192.0.2.1}'),
      addon('rancher-vcluster'),
      {},
      /no full domain name/,
    ],
    [
      'one part',
      vcluster('global: {hostname: rancher}'),
      addon('rancher-vcluster'),
      {},
      /no full domain name/,
    ],
    ['an old version', vcluster('hostname: a.b', 'v0.19.0'), addon('rancher-vcluster'), {}, /^allow$/],
    ['no YAML', vcluster('a: b: c: ['), addon('rancher-vcluster'), {}, /not YAML/],
    [
      'logs of an upgrade',
      addon('rancher-logging', off),
      addon('rancher-logging', on),
      { upgradelogs: [log] },
      /logs of an upgrade .*: l/,
    ],
    [
      'a flow to nowhere',
      addon('rancher-logging', on),
      addon('rancher-logging'),
      { flows: [flow] },
      /names the output o/,
    ],
    [
      'a flow',
      addon('rancher-logging', on),
      addon('rancher-logging'),
      { flows: [flow], outputs: [output] },
      /^allow$/,
    ],
    [
      'a flow of the cluster to nowhere',
      addon('rancher-logging', on),
      addon('rancher-logging'),
      { clusterflows: [clusterFlow] },
      /names the output c/,
    ],
    [
      'around it',
      annotated('rancher-logging', 'harvesterhci.io/skipRancherLoggingAddonWebhookCheck', on),
      addon('rancher-logging'),
      { flows: [flow] },
      /^allow$/,
    ],
    [
      'one node',
      addon('descheduler', on),
      addon('descheduler'),
      { nodes: [{ metadata: {} }] },
      /one node only/,
    ],
    [
      'two nodes',
      addon('descheduler', on),
      addon('descheduler'),
      { nodes: [{ metadata: {} }, { metadata: {} }] },
      /^allow$/,
    ],
    [
      'a machine with a device',
      addon('pcidevices-controller'),
      addon('pcidevices-controller', on),
      { virtualmachines: [machine(device)] },
      /used by default\/m/,
    ],
    [
      'no device',
      addon('pcidevices-controller'),
      addon('pcidevices-controller', on),
      { virtualmachines: [machine({})] },
      /^allow$/,
    ],
    [
      'a machine with a GPU',
      addon('nvidia-driver-toolkit'),
      addon('nvidia-driver-toolkit', on),
      { vgpudevices: [gpu], virtualmachines: [machine({ gpus: [{ name: 'g' }] })] },
      /virtual GPUs are used by default\/m/,
    ],
    [
      'addresses in use',
      addon('kubeovn-operator'),
      addon('kubeovn-operator', on),
      { subnets: [{ metadata: { name: 's' }, status: { v4usingIPs: 2 } }] },
      /in use in the subnets s/,
    ],
    [
      'storage in use',
      addon('harvester-csi-driver-lvm'),
      addon('harvester-csi-driver-lvm', on),
      { storageclasses: [lvm], persistentvolumeclaims: [claim] },
      /StorageClass lvm, PersistentVolumeClaim default\/c/,
    ],
    [
      'only what goes with it',
      addon('harvester-csi-driver-lvm'),
      addon('harvester-csi-driver-lvm', on),
      { storageclasses: [ofHelm] },
      /^allow$/,
    ],
  ];
  for (const [name, object, old, kept, expected] of cases)
    it(`${object.metadata.name}: ${name}`, async () =>
      assert.match(await verdict(object, old, kept), expected));
});
