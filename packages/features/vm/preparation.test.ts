import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { ObjectCache } from '@sheaf/runtime';
import { readClaims } from './claim-reader.ts';
import type { VolumeSpec } from './instance-spec.ts';
import { planDisks, prepareMachine } from './preparation.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';
import type { ClaimFact } from './volume-facts.ts';

const file = { path: '/v/root', format: 'qcow2' } as const;
const containerDisks = new Map();
const seeds = { secrets: new Map(), configMaps: new Map(), serviceAccounts: new Map() };

function instanceWith(volumes: readonly VolumeSpec[]): VirtualMachineInstance {
  return {
    metadata: { namespace: 'default', name: 'a', uid: 'u1' },
    spec: {
      domain: { memory: { guest: '64Mi' }, devices: { autoattachPodInterface: false } },
      volumes,
    },
  };
}

describe('disks', () => {
  const root: VolumeSpec = { name: 'root', persistentVolumeClaim: { claimName: 'c' } };
  const planWith = (fact?: ClaimFact, isStarted = false): ReturnType<typeof planDisks> =>
    planDisks(instanceWith([root]), {
      claims: new Map(fact ? [['c', fact]] : []),
      seeds,
      containerDisks,
      isStarted,
    });

  it('on claims wait for what is missing, each for its own reason', () => {
    const facts: readonly (ClaimFact | undefined)[] = [
      undefined,
      { state: 'missing' },
      { state: 'unbound' },
      { state: 'preparing', percent: 40 },
      { state: 'failed', message: 'lost', wayOut: 'make it again' },
      { state: 'ready', file, isBusy: true },
      { state: 'ready', file, isBusy: false },
    ];
    assert.deepEqual(
      facts.map((fact) => {
        const { waiting } = planWith(fact);
        return waiting && [waiting.reason, waiting.nature, waiting.object?.name];
      }),
      [
        ['FailedPvcNotFound', 'transient', 'c'],
        ['FailedPvcNotFound', 'transient', 'c'],
        ['VolumeUnbound', 'transient', 'c'],
        ['VolumePreparing', 'transient', 'c'],
        ['VolumeFailed', 'fault', 'c'],
        ['VolumeBusy', 'transient', 'c'],
        undefined,
      ],
    );
    assert.deepEqual(planWith({ state: 'ready', file, isBusy: true }, true).files, new Map([['root', file]]));
  });

  it('of its own are made for it; a host disk is never one', () => {
    const volumes: readonly VolumeSpec[] = [
      { name: 'scratch', emptyDisk: { capacity: '1Mi' } },
      { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config\n' } },
      { name: 'host', hostDisk: { path: '/etc/shadow', type: 'Disk' } },
    ];
    const { own, files } = planDisks(instanceWith(volumes), {
      claims: new Map(),
      seeds,
      containerDisks,
      isStarted: false,
    });
    assert.deepEqual(
      own.map((each) => [each.name, each.kind === 'blank' ? each.sizeBytes : each.bytes.length > 0]),
      [
        ['scratch', 2 ** 20],
        ['seed', true],
      ],
    );
    assert.equal(files.size, 0);
    const made = new Map(own.map(({ name }) => [name, { path: `/m/${name}`, format: 'raw' as const }]));
    const preparation = prepareMachine(instanceWith(volumes), { files: made, links: new Map() });
    assert.deepEqual(preparation.state === 'waiting' && preparation.waiting, {
      reason: 'SpecUnsupported',
      text: 'spec.domain.devices.disks[2]: no volume gives disk host a file',
      nature: 'fault',
      wayOut: 'add a volume of this name, or make the disk a CD-ROM drive',
      object: { kind: 'VirtualMachineInstance', namespace: 'default', name: 'a' },
    });
  });
});

it('claims are what the API and the volumes say together', async () => {
  const claims = new ObjectCache<PersistentVolumeClaim>();
  const persistentVolumes = new ObjectCache<PersistentVolume>();
  const add = (name: string, phase: string, spec: PersistentVolumeClaim['spec'] = {}): unknown =>
    claims.put({ metadata: { namespace: 'default', name, uid: `uid-${name}` }, spec, status: { phase } });
  add('taken-up', 'Bound', { volumeName: 'pv-of-another' });
  add('foreign', 'Bound', { volumeName: 'pv-foreign' });
  for (const [name, driver] of [
    ['pv-of-another', 'driver.longhorn.io'],
    ['pv-foreign', 'csi.example.com'],
  ] as const)
    persistentVolumes.put({
      metadata: { name },
      spec: { capacity: {}, accessModes: [], csi: { driver, volumeHandle: 'uid-bound' } },
    });
  for (const [name, phase] of Object.entries({
    bound: 'Bound',
    filling: 'Bound',
    pending: 'Pending',
    lost: 'Lost',
  }))
    add(name, phase);
  const observed = {
    id: 'uid-bound',
    title: '',
    bytes: 1,
    allocatedBytes: 1,
    file,
    isBusy: false,
    snapshotIds: [],
  };
  const volumes = { find: (id: string) => Promise.resolve(id === 'uid-bound' ? observed : undefined) };
  const names = ['bound', 'taken-up', 'foreign', 'filling', 'pending', 'lost', 'absent'];
  const facts = await readClaims(
    { claims, persistentVolumes, volumes },
    {
      namespace: 'default',
      volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    },
    new AbortController().signal,
  );
  assert.deepEqual(
    names.map((name) => facts.get(name)?.state),
    ['ready', 'ready', 'preparing', 'preparing', 'unbound', 'failed', 'missing'],
  );
});
