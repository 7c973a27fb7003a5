import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmissionObjects, KubeObject } from '@sheaf/api';
import type { Addon, Upgrade } from '@sheaf/api/virtualization/index';
import { planGate } from './plan.ts';

const place = { namespace: 'harvester-system' };
const upgrade: Upgrade = { metadata: { ...place, name: 'u' }, spec: { version: 'v2' } };

/** What is there, by resource. */
function objectsOf(kept: Readonly<Record<string, readonly object[]>>): AdmissionObjects {
  const all = { versions: [{ metadata: { ...place, name: 'v2' } }], ...kept };
  const list = (resource: string): readonly KubeObject[] =>
    (all[resource as never] ?? []) as readonly KubeObject[];
  return {
    list: ({ resource }) => list(resource),
    find: ({ resource }, { name }) => list(resource).find(({ metadata }) => metadata.name === name),
  };
}

function addon(name: string, enabled: boolean, status?: Addon['status']): object {
  return { metadata: { ...place, name }, spec: { enabled }, ...(status ? { status } : {}) };
}

function image(name: string, imported: string, progress: number): object {
  const conditions = [{ type: 'Imported', status: imported }];
  return { metadata: { ...place, name }, status: { progress, conditions } };
}

function driver(totalGiB: number, freeGiB: number): object {
  const space = JSON.stringify({ totalBytes: totalGiB * 2 ** 30, freeBytes: freeGiB * 2 ** 30 });
  return { metadata: { name: 'd', annotations: { 'sheaf.dev/space': space } } };
}

describe('the gate of upgrades', () => {
  const stuck = addon('a', true, {
    status: 'AddonEnabling',
    conditions: [{ type: 'InProgress', status: 'True', message: 'it waits for room' }],
  });
  const bypassed = {
    ...upgrade,
    metadata: { ...upgrade.metadata, annotations: { 'harvesterhci.io/skipWebhook': 'true' } },
  };
  const ready = { metadata: { name: 'n' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const cases: readonly [string, Upgrade, Readonly<Record<string, readonly object[]>>, RegExp | undefined][] =
    [
      [
        'nothing in the way',
        upgrade,
        {
          nodes: [ready],
          addons: [addon('a', false), addon('b', true, { status: 'AddonDeploySuccessful' })],
        },
        undefined,
      ],
      ['no version', { ...upgrade, spec: {} }, {}, /BadRequest neither spec.version/],
      ['a version that is not there', upgrade, { versions: [] }, /BadRequest there is no Version v2/],
      [
        'another upgrade',
        upgrade,
        { upgrades: [{ metadata: { ...place, name: 'o' } }] },
        /Conflict .*\/o has not finished.*kubectl delete upgrade o/,
      ],
      [
        'one that is cleaned up',
        upgrade,
        {
          upgrades: [
            {
              metadata: { ...place, name: 'o', labels: { 'harvesterhci.io/upgradeCleanup': 'Pending' } },
              status: { conditions: [{ type: 'Completed', status: 'True' }] },
            },
          ],
        },
        /Conflict .*cleaned up.*kubectl delete upgrade o/,
      ],
      [
        'a backup',
        upgrade,
        { virtualmachinebackups: [{ metadata: { ...place, name: 'b' } }] },
        /backups are in progress: harvester-system\/b.*kubectl delete virtualmachinebackup b -n harvester-system/,
      ],
      [
        'a restore',
        upgrade,
        { virtualmachinerestores: [{ metadata: { ...place, name: 'r' } }] },
        /restored: harvester-system\/r.*kubectl delete virtualmachinerestore r/,
      ],
      [
        'an image that is coming',
        upgrade,
        {
          virtualmachineimages: [image('i', 'Unknown', 40), image('j', 'True', 100), image('k', 'False', 10)],
        },
        /brought in: harvester-system\/i \(40 %\) .*kubectl delete virtualmachineimage i -n harvester-system$/,
      ],
      [
        'a lost volume',
        upgrade,
        { persistentvolumeclaims: [{ metadata: { ...place, name: 'c' }, status: { phase: 'Lost' } }] },
        /lost their volumes: harvester-system\/c.*kubectl delete pvc c/,
      ],
      [
        'a volume that grows',
        upgrade,
        {
          persistentvolumeclaims: [
            {
              metadata: { ...place, name: 'c' },
              status: { phase: 'Bound', conditions: [{ type: 'Resizing', status: 'True' }] },
            },
          ],
        },
        /expanded: harvester-system\/c.*kubectl describe pvc c/,
      ],
      ['room on the disk', upgrade, { csidrivers: [driver(100, 40)] }, undefined],
      [
        'no room on the disk',
        upgrade,
        { csidrivers: [driver(100, 20)] },
        /has 20.0 GiB free of 100.0 GiB.*Free 8.0 GiB: sheaf images ls and kubectl get/,
      ],
      [
        'no room on the disk, and someone who goes round',
        {
          ...upgrade,
          metadata: {
            ...upgrade.metadata,
            annotations: { 'harvesterhci.io/skipGarbageCollectionThresholdCheck': 'true' },
          },
        },
        { csidrivers: [driver(100, 20)] },
        undefined,
      ],
      [
        'a disk that nobody has looked at',
        upgrade,
        { csidrivers: [{ metadata: { name: 'd', annotations: { 'sheaf.dev/space': '?' } } }] },
        undefined,
      ],
      [
        'pressure on a node',
        upgrade,
        {
          nodes: [
            {
              metadata: { name: 'n' },
              status: {
                conditions: [
                  { type: 'Ready', status: 'True' },
                  { type: 'DiskPressure', status: 'True', message: 'little room' },
                ],
              },
            },
          ],
        },
        /n has DiskPressure: little room See what they say: kubectl describe node n$/,
      ],
      [
        'a schedule',
        upgrade,
        { schedulevmbackups: [{ metadata: { ...place, name: 's' }, spec: {} }] },
        /kubectl patch schedulevmbackup s/,
      ],
      [
        'a suspended schedule',
        upgrade,
        { schedulevmbackups: [{ metadata: { ...place, name: 's' }, spec: { suspend: true } }] },
        undefined,
      ],
      [
        'add-ons',
        upgrade,
        { addons: [stuck, addon('b', false, { status: 'AddonDisabling' })] },
        /addon harvester-system\/a is enabled but still in state AddonEnabling \(it waits for room\); addon harvester-system\/b is disabled but still in state AddonDisabling.*kubectl patch addon a .*kubectl patch addon b /,
      ],
      [
        'a node',
        upgrade,
        { nodes: [{ metadata: { name: 'n' }, spec: { unschedulable: true } }] },
        /n is not Ready, n takes nothing \(cordoned\) Let them take machines again: kubectl uncordon n; see what they say: kubectl describe node n$/,
      ],
      [
        'a machine that stays',
        upgrade,
        {
          nodes: [ready, ready],
          virtualmachineinstances: [
            {
              metadata: { ...place, name: 'm' },
              status: { conditions: [{ type: 'LiveMigratable', status: 'False' }] },
            },
          ],
        },
        /Invalid .*virtctl stop m/,
      ],
      [
        'a volume that is plugged in',
        upgrade,
        {
          nodes: [ready, ready],
          virtualmachines: [
            {
              metadata: { ...place, name: 'm' },
              status: { volumeRequests: [{ addVolumeOptions: { name: 'd' } }] },
            },
          ],
        },
        /Invalid .*plugged in.*virtctl removevolume m -n harvester-system --volume-name=d/,
      ],
      ['add-ons, and someone who goes round', bypassed, { addons: [stuck] }, undefined],
      [
        'another upgrade, and someone who goes round',
        bypassed,
        { upgrades: [{ metadata: { ...place, name: 'o' } }] },
        /Conflict/,
      ],
    ];
  for (const [name, asked, kept, expected] of cases)
    it(name, () => {
      const obstacle = planGate({ upgrade: asked, objects: objectsOf(kept) });
      const text = obstacle && `${obstacle.reason} ${obstacle.message} ${obstacle.wayOut}`;
      if (expected) assert.match(text ?? '', expected);
      if (obstacle) assert.match(obstacle.wayOut, /kubectl|virtctl/);
      else assert.equal(text, undefined);
    });
});
