import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AccessCredential, VolumeSpec } from '../instance-spec.ts';
import type { VirtualMachineInstance } from '../virtual-machine.ts';
import { isoImage } from './iso-image.ts';
import { readImage } from './iso-reader.fixture.ts';
import { type SeedSources, seedObjectsOf, seedOf } from './seed-image.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const nothing: SeedSources = { secrets: new Map(), configMaps: new Map(), serviceAccounts: new Map() };

function instanceWith(accessCredentials: readonly AccessCredential[] = []): VirtualMachineInstance {
  return {
    metadata: { namespace: 'default', name: 'web', uid: 'u1', labels: { app: 'a', tier: 'x' } },
    spec: { domain: { devices: {} }, accessCredentials },
  };
}

function read(
  volume: VolumeSpec,
  sources = nothing,
  instance = instanceWith(),
): ReturnType<typeof readImage> {
  const seed = seedOf(volume, instance, sources);
  assert.equal(seed.state, 'ready');
  return readImage(seed.state === 'ready' ? seed.bytes : new Uint8Array());
}

const key = (secretName: string, way: 'noCloud' | 'configDrive'): AccessCredential => ({
  sshPublicKey: { source: { secret: { secretName } }, propagationMethod: { [way]: {} } },
});

describe('images', () => {
  it('hold any number of files in directories, across sectors', () => {
    const files = new Map<string, Uint8Array>();
    for (let count = 0; count < 300; count++)
      files.set(
        `${count % 3 === 0 ? 'deep/er/' : ''}a-rather-long-name-${count}.conf`,
        encode(`text ${count}`),
      );
    files.set('big', new Uint8Array(5000).fill(65));
    const { label, files: found } = readImage(isoImage('label', files));
    assert.equal(label, 'label');
    const written = [...files].map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]);
    assert.deepEqual(found, Object.fromEntries(written));
  });

  it('are the same for the same files', () => {
    const files = new Map([['a', encode('1')]]);
    assert.deepEqual(isoImage('x', files), isoImage('x', files));
  });
});

describe('cloud-init', () => {
  it('NoCloud: user data, network data and keys', () => {
    const volume = {
      name: 'seed',
      cloudInitNoCloud: {
        userData: '#cloud-config\n',
        networkDataBase64: Buffer.from('version: 2').toString('base64'),
      },
    };
    const secrets = new Map([
      ['keys', { a: encode('ssh-ed25519 A me\n\n# note\nssh-rsa B\n'), b: encode('ssh-rsa B') }],
    ]);
    const instance = instanceWith([key('keys', 'noCloud'), key('other', 'configDrive')]);
    const { label, files } = read(volume, { ...nothing, secrets }, instance);
    assert.equal(label, 'cidata');
    assert.deepEqual(files, {
      'meta-data': JSON.stringify({
        'instance-id': 'web.default',
        'local-hostname': 'web',
        'public-keys': { 0: 'ssh-ed25519 A me', 1: 'ssh-rsa B' },
      }),
      'network-config': 'version: 2',
      'user-data': '#cloud-config\n',
    });
  });

  it('ConfigDrive: from Secrets', () => {
    const volume = {
      name: 'seed',
      cloudInitConfigDrive: { secretRef: { name: 's' }, networkDataSecretRef: { name: 'n' } },
    };
    const secrets = new Map([
      ['s', { userdata: encode('u') }],
      ['n', { networkdata: encode('{}') }],
      ['keys', { k: encode('ssh-rsa C') }],
    ]);
    const { label, files } = read(
      volume,
      { ...nothing, secrets },
      instanceWith([key('keys', 'configDrive')]),
    );
    assert.equal(label, 'config-2');
    assert.deepEqual(Object.keys(files).sort(), [
      'openstack/latest/meta_data.json',
      'openstack/latest/network_data.json',
      'openstack/latest/user_data',
    ]);
    const metaData = JSON.parse(files['openstack/latest/meta_data.json'] ?? '') as { public_keys: unknown };
    assert.deepEqual(metaData.public_keys, { 0: 'ssh-rsa C' });
  });

  it('waits for a Secret that is not there, and names it', () => {
    const volume = { name: 'seed', cloudInitNoCloud: { secretRef: { name: 's' } } };
    const seed = seedOf(volume, instanceWith(), nothing);
    assert.deepEqual(seed, {
      state: 'waiting',
      waiting: {
        reason: 'ObjectNotFound',
        text: 'A disk is made from an object that is not there',
        nature: 'transient',
        object: { kind: 'Secret', namespace: 'default', name: 's' },
      },
    });
    assert.deepEqual(seedObjectsOf(volume, instanceWith([key('keys', 'noCloud')])), {
      secrets: ['s', 'keys'],
      configMaps: [],
    });
  });
});

describe('files', () => {
  const configMaps = new Map([['c', { 'app.conf': encode('x=1') }]]);
  const secrets = new Map([['c', { 'Autounattend.xml': encode('<x/>') }]]);
  const serviceAccounts = new Map([['default', { token: encode('t') }]]);
  const sources = { configMaps, secrets, serviceAccounts };

  it('of ConfigMap, Secret, service account and sysprep', () => {
    const volumes: readonly VolumeSpec[] = [
      { name: 'v', configMap: { name: 'c' } },
      { name: 'v', configMap: { name: 'c', volumeLabel: 'mine' } },
      { name: 'v', configMap: { name: 'absent', optional: true } },
      { name: 'v', secret: { secretName: 'c' } },
      { name: 'v', sysprep: { secret: { name: 'c' } } },
      { name: 'v', serviceAccount: { serviceAccountName: 'default' } },
    ];
    assert.deepEqual(
      volumes.map((volume) => read(volume, sources)),
      [
        { label: 'cfgdata', files: { 'app.conf': 'x=1' } },
        { label: 'mine', files: { 'app.conf': 'x=1' } },
        { label: 'cfgdata', files: {} },
        { label: 'cfgdata', files: { 'Autounattend.xml': '<x/>' } },
        { label: 'unattendCD', files: { 'Autounattend.xml': '<x/>' } },
        { label: 'cfgdata', files: { token: 't' } },
      ],
    );
  });

  it('of the instance itself', () => {
    const fieldOf = (path: string, fieldPath: string): object => ({ path, fieldRef: { fieldPath } });
    const fields = [
      fieldOf('name', 'metadata.name'),
      fieldOf('labels', 'metadata.labels'),
      fieldOf('app', "metadata.labels['app']"),
      fieldOf('node', 'spec.nodeName'),
    ];
    assert.deepEqual(read({ name: 'v', downwardAPI: { fields } }).files, {
      app: 'a',
      labels: 'app="a"\ntier="x"',
      name: 'web',
      node: '',
    });
  });

  it('a name that no disk can hold is a fault, with its way out', () => {
    const names = new Map([['c', { ['x'.repeat(101)]: encode('') }]]);
    const seed = seedOf({ name: 'v', configMap: { name: 'c' } }, instanceWith(), {
      ...nothing,
      configMaps: names,
    });
    assert.equal(seed.state === 'waiting' && seed.waiting.nature, 'fault');
  });

  it('a volume on a claim is none', () => {
    const volume = { name: 'v', persistentVolumeClaim: { claimName: 'c' } };
    assert.deepEqual(seedOf(volume, instanceWith(), nothing), { state: 'none' });
  });
});
