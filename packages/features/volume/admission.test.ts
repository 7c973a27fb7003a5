import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AdmissionContext, type AdmissionRule, identityOf, type KubeObject } from '@sheaf/api';
import { claimRule, classRule } from './admission.ts';

type Objects = Readonly<Record<string, readonly KubeObject[]>>;

interface Write {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly object?: KubeObject;
  readonly old?: KubeObject;
  readonly objects?: Objects;
  readonly mayRead?: boolean;
}

async function outcomeOf(rule: AdmissionRule, write: Write): Promise<string> {
  const verdict = await rule.validate?.(write.object, write.old, contextOf(write));
  if (verdict?.decision !== 'deny') return verdict?.decision ?? 'nobody was asked';
  assert.notEqual(verdict.wayOut, '');
  return `${verdict.reason}: ${verdict.message}`;
}

/** As much of it as the rules use. */
function contextOf({ operation, object, old, objects = {}, mayRead = true }: Write): AdmissionContext {
  const { namespace, name } = identityOf(object ?? old ?? { metadata: {} });
  const all = (resource: string): readonly KubeObject[] => objects[resource] ?? [];
  return {
    operation,
    namespace,
    name,
    may: () => Promise.resolve(mayRead),
    objects: {
      list: ({ resource }: { resource: string }, inside?: string) =>
        all(resource).filter(({ metadata }) => inside === undefined || metadata.namespace === inside),
      find: ({ resource }: { resource: string }, ref: { namespace?: string; name: string }) =>
        all(resource).find((each) => {
          const found = identityOf(each);
          return found.name === ref.name && found.namespace === (ref.namespace ?? '');
        }),
    },
  } as unknown as AdmissionContext;
}

function claim(more: Partial<KubeObject['metadata']> = {}, spec: object = {}): KubeObject {
  return {
    metadata: { namespace: 'default', name: 'a', ...more },
    spec: { storageClassName: 'usual', resources: { requests: { storage: '1Gi' } }, ...spec },
  };
}

const usual = { metadata: { name: 'usual' }, provisioner: 'driver.longhorn.io' };
const imageClass = { ...usual, metadata: { name: 'lh-i' }, parameters: { backingImage: 'vmi-i' } };
const image = {
  metadata: { namespace: 'default', name: 'i', uid: 'i' },
  spec: { sourceType: 'download' },
  status: { virtualSize: 2 ** 31, storageClassName: 'lh-i' },
};
const instance = {
  metadata: { namespace: 'default', name: 'm' },
  spec: { volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'a' } }] },
  status: { phase: 'Running' },
};
const owned = {
  'harvesterhci.io/owned-by': '[{"schema":"kubevirt.io.virtualmachine","refs":["default/m"]}]',
};
const machine = { metadata: { namespace: 'default', name: 'm' } };
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const exporting = {
  metadata: { namespace: 'default', name: 'e' },
  spec: { sourceType: 'export-from-volume', pvcName: 'a', pvcNamespace: 'default' },
};
const exported = { ...exporting, status: { conditions: [{ type: 'Imported', status: 'True' }] } };
const golden = { 'harvesterhci.io/goldenImage': 'true', 'harvesterhci.io/imageId': 'default/i' };
const expandSetting = {
  metadata: { name: 'csi-online-expand-validation' },
  value: '{"driver.longhorn.io":false}',
};
const larger = claim({}, { resources: { requests: { storage: '2Gi' } } });

describe('claims', () => {
  const ofImage = (storage: string) =>
    claim({}, { storageClassName: 'lh-i', resources: { requests: { storage } } });
  const images = { storageclasses: [imageClass], virtualmachineimages: [image] };
  const cases: readonly [string, Write, RegExp][] = [
    [
      'a usual one',
      { operation: 'CREATE', object: claim(), objects: { storageclasses: [usual] } },
      /^allow$/,
    ],
    [
      'of the class of states',
      { operation: 'CREATE', object: claim({}, { storageClassName: 'vmstate-persistence' }) },
      /^Invalid: .*state of virtual machines/,
    ],
    [
      'of a state',
      {
        operation: 'CREATE',
        object: claim(
          { labels: { 'persistent-state-for': 'm' } },
          { storageClassName: 'vmstate-persistence' },
        ),
      },
      /^allow$/,
    ],
    [
      'of the class of upgrades',
      { operation: 'CREATE', object: claim({}, { storageClassName: 'longhorn-static' }) },
      /^Invalid: .*upgrades/,
    ],
    ['of an image', { operation: 'CREATE', object: ofImage('2Gi'), objects: images }, /^allow$/],
    [
      'of an image that may not be read',
      { operation: 'CREATE', object: ofImage('2Gi'), objects: images, mayRead: false },
      /^Invalid: .*may not read/,
    ],
    [
      'smaller than its image',
      { operation: 'CREATE', object: ofImage('1Gi'), objects: images },
      /^Invalid: .*has 2147483648 bytes/,
    ],
    [
      'growing',
      {
        operation: 'UPDATE',
        object: larger,
        old: claim(),
        objects: { storageclasses: [usual], virtualmachineinstances: [instance] },
      },
      /^allow$/,
    ],
    [
      'growing in use where a setting forbids it',
      {
        operation: 'UPDATE',
        object: larger,
        old: claim(),
        objects: { storageclasses: [usual], virtualmachineinstances: [instance], settings: [expandSetting] },
      },
      /^Invalid: .*csi-online-expand-validation/,
    ],
    [
      'losing the mark of an image',
      { operation: 'UPDATE', object: claim(), old: claim({ annotations: golden }) },
      /^Invalid: .*goldenImage/,
    ],
    ['deleted', { operation: 'DELETE', old: claim() }, /^allow$/],
    [
      'deleted in use',
      { operation: 'DELETE', old: claim(), objects: { virtualmachineinstances: [instance] } },
      /^Conflict: .*in use by/,
    ],
    [
      'deleted after its user has ended',
      {
        operation: 'DELETE',
        old: claim(),
        objects: { virtualmachineinstances: [{ ...instance, status: { phase: 'Succeeded' } }] },
      },
      /^allow$/,
    ],
    [
      'deleted under its machine',
      { operation: 'DELETE', old: claim({ annotations: owned }), objects: { virtualmachines: [machine] } },
      /^Invalid: .*belongs to the virtual machine default\/m/,
    ],
    [
      'deleted with its machine',
      {
        operation: 'DELETE',
        old: claim({ annotations: owned }),
        objects: { virtualmachines: [{ metadata: { ...machine.metadata, ...going } }] },
      },
      /^allow$/,
    ],
    [
      'deleted while it is exported',
      { operation: 'DELETE', old: claim(), objects: { virtualmachineimages: [exporting] } },
      /^Invalid: .*exported to the image default\/e/,
    ],
    [
      'deleted after its export',
      { operation: 'DELETE', old: claim(), objects: { virtualmachineimages: [exported] } },
      /^allow$/,
    ],
    [
      'deleted under its image',
      {
        operation: 'DELETE',
        old: claim({ annotations: golden }),
        objects: { virtualmachineimages: [image] },
      },
      /^Invalid: .*the image default\/i is made of/,
    ],
    [
      'deleted with an unreadable owner',
      { operation: 'DELETE', old: claim({ annotations: { 'harvesterhci.io/owned-by': '{' } }) },
      /^allow$/,
    ],
  ];
  for (const [name, write, outcome] of cases)
    it(name, async () => assert.match(await outcomeOf(claimRule, write), outcome));
});

describe('storage classes', () => {
  const asDefault = (name: string): KubeObject => ({
    ...usual,
    metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  });
  const parameters = (given: object): KubeObject => ({ ...usual, parameters: given });
  const reserved = {
    ...usual,
    metadata: { name: 'r', annotations: { 'harvesterhci.io/is-reserved-storageclass': 'true' } },
  };
  const cases: readonly [string, Write, RegExp][] = [
    ['the only default', { operation: 'CREATE', object: asDefault('a') }, /^allow$/],
    [
      'a second default',
      { operation: 'CREATE', object: asDefault('a'), objects: { storageclasses: [asDefault('b')] } },
      /^Invalid: .*b is the default already/,
    ],
    [
      'a default that stays',
      {
        operation: 'UPDATE',
        object: asDefault('a'),
        old: asDefault('a'),
        objects: { storageclasses: [asDefault('b')] },
      },
      /^allow$/,
    ],
    [
      'strict locality',
      { operation: 'CREATE', object: parameters({ dataLocality: 'strict-local' }) },
      /^Invalid: /,
    ],
    [
      'encryption',
      { operation: 'CREATE', object: parameters({ encrypted: 'true' }) },
      /^Invalid: .*encrypted/,
    ],
    ['a reserved one deleted', { operation: 'DELETE', old: reserved }, /^Invalid: .*reserved/],
    [
      'one of an image deleted',
      { operation: 'DELETE', old: imageClass, objects: { virtualmachineimages: [image] } },
      /^Invalid: .*in use by the image/,
    ],
    ['one deleted', { operation: 'DELETE', old: usual }, /^allow$/],
  ];
  for (const [name, write, outcome] of cases)
    it(name, async () => assert.match(await outcomeOf(classRule, write), outcome));
});
