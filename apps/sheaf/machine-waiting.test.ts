import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { ServedResource } from '@sheaf/client';
import { followChain } from './chain.ts';
import { findWaiting } from './waiting.ts';

function served(group: string, plural: string, kind: string): ServedResource {
  return { group, version: 'v1', plural, kind, namespaced: true, verbs: ['get', 'list'] };
}

const machines = served('kubevirt.io', 'virtualmachines', 'VirtualMachine');
const instances = served('kubevirt.io', 'virtualmachineinstances', 'VirtualMachineInstance');
const claims = served('', 'persistentvolumeclaims', 'PersistentVolumeClaim');
const images = served('harvesterhci.io', 'virtualmachineimages', 'VirtualMachineImage');

function objectOf(kind: string, name: string, status: object): KubeObject {
  return { kind, metadata: { namespace: 'default', name, uid: `${kind}-${name}` }, status };
}

const unbound = {
  type: 'Synchronized',
  status: 'False',
  reason: 'VolumeUnbound',
  message: 'A claim has no volume yet; waits for PersistentVolumeClaim default/c; tried again by itself',
};
const machine = objectOf('VirtualMachine', 'a', {
  printableStatus: 'WaitingForVolumeBinding',
  conditions: [{ type: 'Ready', status: 'False' }, unbound],
});
const instance: KubeObject = {
  ...objectOf('VirtualMachineInstance', 'a', { phase: 'Pending', conditions: [unbound] }),
};
const claim = objectOf('PersistentVolumeClaim', 'c', {
  phase: 'Pending',
  conditions: [
    {
      type: 'Bound',
      status: 'False',
      reason: 'ImageFailed',
      message:
        'The image could not be had; waits for VirtualMachineImage default/i; needs someone: make it again',
    },
  ],
});
const image = objectOf('VirtualMachineImage', 'i', {
  conditions: [
    {
      type: 'Imported',
      status: 'False',
      reason: 'ImportFailed',
      message: 'the server answered 404; needs someone: raise spec.retry',
    },
  ],
});

async function chainOf(objects: readonly KubeObject[]): Promise<readonly string[]> {
  const resources = [machines, instances, claims, images];
  const own = { ...instance, metadata: { ...instance.metadata, ownerReferences: [ownerOf(machine)] } };
  const all = [machine, own, ...objects];
  const links = await followChain(
    {
      resources,
      controllers: [],
      find: ({ kind }, { name }) =>
        Promise.resolve(all.find((each) => each.kind === kind && each.metadata.name === name)),
      list: ({ kind }) => Promise.resolve(all.filter((each) => each.kind === kind)),
    },
    machines,
    machine,
  );
  return links.map(({ depth, object, text, wayOut }) =>
    [`${depth} ${object}: ${text}`, ...(wayOut ? [wayOut] : [])].join(' | '),
  );
}

function ownerOf({ metadata: { name = '', uid = '' } }: KubeObject) {
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid, controller: true };
}

describe('sheaf why of a virtual machine', () => {
  it('goes through its claim to the image that could not be had', async () => {
    assert.deepEqual(await chainOf([claim, image]), [
      '0 VirtualMachine/a in default: is WaitingForVolumeBinding: A claim has no volume yet; waits for PersistentVolumeClaim default/c; tried again by itself',
      '1 PersistentVolumeClaim/c in default: is not bound to a volume: The image could not be had; waits for VirtualMachineImage default/i | make it again',
      '2 VirtualMachineImage/i in default: could not be brought in: the server answered 404 | raise spec.retry',
      '1 VirtualMachineInstance/a in default: does not start: A claim has no volume yet; waits for PersistentVolumeClaim default/c; tried again by itself',
    ]);
  });

  it('names what is not there', async () => {
    const [, missing] = await chainOf([]);
    assert.equal(
      missing,
      '1 PersistentVolumeClaim/c in default: is not there | Create it, or write the object that waits without it.',
    );
  });

  const states: readonly (readonly [string, object, RegExp | undefined])[] = [
    ['Running', {}, undefined],
    ['Stopped', { conditions: [{ type: 'Ready', status: 'False', reason: 'VMINotExists' }] }, undefined],
    ['Starting', {}, /^is Starting$/],
    ['', {}, /not been looked at yet/],
    [
      'CrashLoopBackOff',
      { startFailure: { consecutiveFailCount: 3, retryAfterTimestamp: '2026-01-01T00:00:00Z' } },
      /ended 3 times before it ran; the next try is at 2026/,
    ],
    [
      'Running',
      { conditions: [{ type: 'RestartRequired', status: 'True', message: 'spec.domain was changed' }] },
      /runs, but not as it is written now: spec.domain/,
    ],
    [
      'Running',
      {
        conditions: [
          { type: 'HotMemoryChange', status: 'True', message: '0/1 nodes are available: no room' },
        ],
      },
      /^runs, and does not grow yet: 0\/1 nodes/,
    ],
    [
      'Stopped',
      { conditions: [{ type: 'Failure', status: 'True', message: 'no; needs someone: do it' }] },
      /cannot be had as it is written: no$/,
    ],
  ];
  for (const [printableStatus, more, text] of states)
    it(`tells of a machine that is ${printableStatus || 'new'}: ${text?.source ?? 'nothing'}`, () => {
      const waiting = findWaiting(objectOf('VirtualMachine', 'a', { printableStatus, ...more }));
      if (text === undefined) assert.equal(waiting, undefined);
      else assert.match(waiting?.text ?? '', text);
    });

  it('tells of copies of machines whether they need someone', () => {
    const copy = (kind: string, message: string) =>
      findWaiting(
        objectOf(kind, 'c', { conditions: [{ type: 'Ready', status: 'False', reason: 'Cause', message }] }),
      );
    for (const kind of ['VirtualMachineBackup', 'VirtualMachineRestore']) {
      assert.deepEqual(copy(kind, 'no target; needs someone: take a snapshot'), {
        reason: 'Cause',
        nature: 'fault',
        text: 'is not done: no target',
        wayOut: 'take a snapshot',
      });
      assert.equal(copy(kind, 'under way; tried again by itself')?.nature, 'transient');
      assert.equal(findWaiting(objectOf(kind, 'c', {}))?.reason, 'NotObserved');
      const done = { conditions: [{ type: 'Ready', status: 'True' }] };
      assert.equal(findWaiting(objectOf(kind, 'c', done)), undefined);
    }
  });

  it('tells of instances that have failed or do not answer, and of images on their way', () => {
    const failed = { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False', message: 'killed' }] };
    const silent = {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False', reason: 'Unresponsive', message: 'no answer' }],
    };
    const texts = [
      objectOf('VirtualMachineInstance', 'a', failed),
      objectOf('VirtualMachineInstance', 'a', silent),
      objectOf('VirtualMachineInstance', 'a', { phase: 'Succeeded' }),
      objectOf('VirtualMachineImage', 'i', { progress: 40 }),
      objectOf('VirtualMachineImage', 'i', { conditions: [{ type: 'Imported', status: 'True' }] }),
    ].map((object) => findWaiting(object)?.text);
    assert.deepEqual(texts, [
      'has failed: killed',
      'is not ready: no answer',
      undefined,
      'is being brought in, 40 %',
      undefined,
    ]);
  });
});
