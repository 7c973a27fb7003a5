import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VirtualMachineInstance,
} from '@sheaf/api/virtualization/index';
import type { Pod } from '@sheaf/api/workload/index';
import type { VolumeObservation } from '@sheaf/ports';
import { ObjectCache } from '@sheaf/runtime';
import { findClaimDisk } from './claim-disks.ts';

const file = { path: '/x', format: 'qcow2' } as const;
const observation: VolumeObservation = {
  id: 'u',
  title: 'default/data',
  bytes: 2 ** 20,
  allocatedBytes: 0,
  file,
  isBusy: false,
  snapshotIds: [],
};
const claim: PersistentVolumeClaim = {
  metadata: { namespace: 'default', name: 'data', uid: 'u' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } }, volumeName: 'v' },
  status: { phase: 'Bound' },
};
const volume: PersistentVolume = {
  metadata: { name: 'v' },
  spec: {
    capacity: { storage: '1Mi' },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Delete',
    csi: { driver: 'driver.longhorn.io', volumeHandle: 'u' },
  },
};
const machine: VirtualMachineInstance = {
  metadata: { namespace: 'default', name: 'm' },
  spec: {
    domain: { devices: {} },
    volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
  },
  status: { phase: 'Running' },
};

function pod(name: string, conditions: NonNullable<Pod['status']>['conditions'] = []): Pod {
  return {
    metadata: { namespace: 'default', name, uid: name },
    spec: {
      nodeName: 'n',
      containers: [],
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
    status: { phase: 'Pending', conditions },
  };
}

const mounted = [{ type: 'PodReadyToStartContainers', status: 'True' }] as const;

interface World {
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly objects?: readonly PersistentVolume[];
  readonly instances?: readonly VirtualMachineInstance[];
  readonly pods?: readonly Pod[];
  readonly found?: VolumeObservation | undefined;
}

function cacheOf<T extends KubeObject>(objects: readonly T[]): ObjectCache<T> {
  const cache = new ObjectCache<T>();
  for (const object of objects) cache.put(object);
  return cache;
}

async function told(world: World, podUid = 'p'): Promise<string> {
  const { claims = [claim], objects = [volume], instances = [], pods = [pod('p')] } = world;
  const parts = {
    claims: cacheOf(claims),
    objects: cacheOf(objects),
    instances: cacheOf(instances),
    pods: cacheOf(pods),
    volumes: { find: () => Promise.resolve('found' in world ? world.found : observation) },
  };
  const wanted = { namespace: 'default', name: 'data', podUid };
  const disk = await findClaimDisk(parts, wanted, new AbortController().signal);
  return 'problem' in disk ? disk.problem : `${disk.volumeId} ${disk.isReadOnly}`;
}

it('a claim leads to its disk, or says what is missing', async () => {
  assert.equal(await told({}), 'u false');
  assert.equal(await told({ claims: [] }), 'persistentvolumeclaim "data" not found');
  assert.equal(
    await told({ claims: [{ ...claim, status: { phase: 'Pending' } }] }),
    'persistentvolumeclaim "data" is not bound',
  );
  assert.match(await told({ objects: [] }), /^persistentvolume "v" of .* not found$/);
  assert.match(await told({ found: undefined }), /is gone$/);
  const withSpec = (spec: Partial<PersistentVolume['spec']>): World => ({
    objects: [{ ...volume, spec: { ...volume.spec, ...spec } }],
  });
  assert.equal(await told(withSpec({ accessModes: ['ReadOnlyMany'] })), 'u true');
  assert.match(await told(withSpec({ volumeMode: 'Block' })), /use a claim with volumeMode Filesystem$/);
  assert.match(
    await told(withSpec({ csi: { driver: 'other', volumeHandle: 'u' } })),
    /on a volume of other, which cannot be mounted here$/,
  );
});

it('a machine on the claim keeps pods from it, unless it has ended', async () => {
  assert.match(
    await told({ instances: [machine] }),
    /used by the virtual machine default\/m; stop that machine/,
  );
  assert.equal(await told({ instances: [{ ...machine, status: { phase: 'Succeeded' } }] }), 'u false');
});

it('a disk grows, and its layers are merged, before a pod opens it, not under one that has', async () => {
  const larger = { ...claim, spec: { ...claim.spec, resources: { requests: { storage: '2Mi' } } } };
  assert.match(await told({ claims: [larger] }), /is being made larger$/);
  assert.equal(await told({ claims: [larger], pods: [pod('p', mounted)] }), 'u false');
  const busy = { ...observation, isBusy: true };
  assert.match(await told({ found: busy }), /are being merged$/);
  assert.equal(await told({ found: busy, pods: [pod('p', mounted)] }), 'u false');
});

it('ReadWriteOncePod is for one pod: who has it keeps it', async () => {
  const alone = { ...claim, spec: { ...claim.spec, accessModes: ['ReadWriteOncePod'] } };
  const world = { claims: [alone], pods: [pod('a'), pod('b', mounted)] };
  assert.equal(await told(world, 'b'), 'u false');
  assert.match(await told(world, 'a'), /ReadWriteOncePod and used by the pod default\/b; delete that pod/);
  assert.equal(await told({ ...world, claims: [claim] }, 'a'), 'u false');
});
