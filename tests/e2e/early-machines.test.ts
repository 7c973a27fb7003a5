import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runProgram } from '../program.ts';
import { findKubectl } from '../tools.ts';
import { at, eventually, Installation } from './installation.ts';

const kubectl = await findKubectl();
const emulator = await runProgram('sh', ['-c', 'command -v qemu-system-x86_64']);
const missing = 'missing' in kubectl ? kubectl.missing : emulator.code === 0 ? false : 'there is no QEMU';

/** Machines whose run strategy wants them to run, and those that wait for a word. */
const started = ['Always', 'RerunOnFailure', 'Once'];
const standing = ['Manual', 'Halted'];
const strategies = [...started, ...standing];

interface Parts {
  readonly volumes?: readonly object[];
  readonly networks?: readonly object[];
  readonly memory?: string;
  readonly claims?: readonly object[];
}

/** A machine without a system: it runs its firmware. */
function machineOf(name: string, runStrategy: string, parts: Parts): object {
  const { volumes = [], networks, memory = '64Mi', claims } = parts;
  const annotations = claims ? { 'harvesterhci.io/volumeClaimTemplates': JSON.stringify(claims) } : {};
  const disks = volumes.map((volume) => ({ name: at(volume, 'name'), disk: { bus: 'virtio' } }));
  const interfaces = networks?.map((network) => ({ name: at(network, 'name'), bridge: {} }));
  const devices = { disks, ...(interfaces ? { interfaces } : {}) };
  const spec = {
    terminationGracePeriodSeconds: 0,
    domain: { memory: { guest: memory }, devices },
    volumes,
    ...(networks ? { networks } : {}),
  };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: 'default', annotations },
    spec: { runStrategy, template: { spec } },
  };
}

const nameOf = (strategy: string): string => strategy.toLowerCase();
const seed = { name: 'seed', cloudInitNoCloud: { secretRef: { name: 'seed' } } };
const onClaim = (claimName: string): object => ({ name: 'root', persistentVolumeClaim: { claimName } });
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'seed', namespace: 'default' },
  stringData: { userdata: '#cloud-config\n' },
};

describe('machines that are there before what they need', { skip: missing }, () => {
  let sheaf: Installation;
  before(async () => {
    sheaf = await Installation.make('path' in kubectl ? kubectl.path : '');
  });
  after(() => sheaf.remove());

  const shown = async (name: string): Promise<unknown> =>
    at(await sheaf.find('vm', name), 'status', 'printableStatus');
  const why = async (name: string): Promise<string> => {
    const { code, out, err } = await sheaf.sheaf('why', `vm/${name}`);
    assert.equal(code, 0, err);
    return out;
  };
  const untilWhy = async (name: string, words: RegExp): Promise<string> => {
    let said = '';
    await eventually(
      async () => {
        said = await why(name);
        return words.test(said);
      },
      { goal: `${name} says ${words.source}` },
      () => said,
    );
    return said;
  };

  it('never hold up a start, whatever their run strategy: neither the one in which they come nor the next', async () => {
    await sheaf.start();
    await sheaf.stop();
    const machines = strategies.map((strategy) => machineOf(nameOf(strategy), strategy, { volumes: [seed] }));
    const starting = sheaf.start();
    const list = { apiVersion: 'v1', kind: 'List', items: machines };
    await eventually(
      async () => (await sheaf.tryKubectl(['create', '--save-config', '-f', '-'], list)).code === 0,
      { goal: 'the API takes the machines' },
    );
    await starting;
    await sheaf.kill();
    await sheaf.start();
    const { code, out } = await sheaf.tryKubectl(['get', '--raw', '/readyz']);
    assert.deepEqual([code, out], [0, 'ok']);
  });

  it('say what they wait for, and start by themselves when it comes', async () => {
    for (const strategy of started) {
      const said = await untilWhy(nameOf(strategy), /Secret\/seed in default: is not there/);
      assert.match(said, /way out: Create it/);
    }
    await sheaf.apply(secret);
    for (const strategy of started)
      await sheaf.until(
        ['vm', nameOf(strategy)],
        (object) => at(object, 'status', 'printableStatus') === 'Running',
        { goal: `the machine of strategy ${strategy} runs` },
      );
    for (const strategy of standing) {
      assert.equal(await shown(nameOf(strategy)), 'Stopped');
      assert.equal(await sheaf.find('vmi', nameOf(strategy)), undefined);
      assert.match(await why(nameOf(strategy)), /is as it should be/);
    }
    assert.equal((await sheaf.processes()).length, started.length);
    await sheaf.kubectl(['delete', 'vm', ...strategies.map(nameOf), '--timeout=60s']);
    assert.deepEqual(await sheaf.processes(), []);
  });

  it('name the cause and the way out when it is a claim, an image, a network or memory that is missing', async () => {
    const image = {
      apiVersion: 'harvesterhci.io/v1beta1',
      kind: 'VirtualMachineImage',
      metadata: { name: 'gone', namespace: 'default' },
      spec: { displayName: 'gone', sourceType: 'download', url: 'http://127.0.0.1:9/disk.qcow2', retry: 1 },
    };
    await sheaf.apply(image);
    const found = await sheaf.until(
      ['virtualmachineimage', 'gone'],
      (object) => typeof at(object, 'status', 'storageClassName') === 'string',
      { goal: 'the image has its storage class' },
    );
    const storageClassName = String(at(found, 'status', 'storageClassName'));
    const claim = {
      metadata: { name: 'from-image' },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } }, storageClassName },
    };
    await sheaf.apply(
      machineOf('no-claim', 'RerunOnFailure', { volumes: [onClaim('nobody')] }),
      machineOf('no-image', 'RerunOnFailure', { volumes: [onClaim('from-image')], claims: [claim] }),
      machineOf('no-network', 'RerunOnFailure', {
        networks: [{ name: 'lan', multus: { networkName: 'lan' } }],
      }),
      machineOf('no-memory', 'RerunOnFailure', { memory: '900Ti' }),
    );
    await untilWhy(
      'no-claim',
      /PersistentVolumeClaim\/nobody in default: is not there\n.*way out: Create it/,
    );
    await untilWhy('no-network', /NetworkAttachmentDefinition\/lan in default: is not there/);
    await untilWhy('no-memory', /Insufficient memory .*stop another machine, make this one smaller/);
    await untilWhy('no-image', /PersistentVolumeClaim\/from-image[^]*VirtualMachineImage\/gone in default: /);
    const states = await Promise.all(['no-claim', 'no-image', 'no-memory'].map(shown));
    assert.deepEqual(states, ['ErrorPvcNotFound', 'WaitingForVolumeBinding', 'ErrorUnschedulable']);
    await sheaf.kubectl(['delete', 'vm', '--all', '--timeout=60s']);
  });
});
