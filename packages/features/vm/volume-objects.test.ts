import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DataVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { ownersAnnotation, withOwner, withoutOwner } from './claim-owners.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import { machineOf } from './vm-world.fixture.ts';
import { planRelease, planVolumes, type VolumeStep } from './volume-objects.ts';

const ownedByA = '[{"schema":"kubevirt.io.virtualmachine","refs":["default/a"]}]';

function claimOf(name: string, storage: string, owner?: string): PersistentVolumeClaim {
  const annotations = owner === undefined ? {} : { [ownersAnnotation]: owner };
  return {
    metadata: { namespace: 'default', name, annotations },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage } }, storageClassName: 'lh' },
  };
}

function machineWith(templates: unknown, more: Partial<VirtualMachine['spec']> = {}): VirtualMachine {
  const { metadata, spec } = machineOf('RerunOnFailure');
  const text = typeof templates === 'string' ? templates : JSON.stringify(templates);
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'root' } }];
  const template = { spec: { ...spec.template.spec, volumes } };
  return {
    metadata: { ...metadata, annotations: { 'harvesterhci.io/volumeClaimTemplates': text } },
    spec: { ...spec, template, ...more },
  };
}

function plan(
  machine: VirtualMachine,
  claims: readonly PersistentVolumeClaim[],
  dataVolumes: readonly DataVolume[] = [],
): readonly VolumeStep[] {
  return planVolumes(machine, { claims, dataVolumes });
}

const template = {
  metadata: {
    name: 'root',
    namespace: 'elsewhere',
    annotations: { 'harvesterhci.io/imageId': 'default/image' },
  },
  spec: claimOf('root', '10Gi').spec,
};

describe('volumes that a machine brings along', () => {
  it('are made from its templates, in its namespace, and are its own', () => {
    const annotations = { 'harvesterhci.io/imageId': 'default/image', [ownersAnnotation]: ownedByA };
    assert.deepEqual(plan(machineWith([template]), []), [
      {
        action: 'create-claim',
        claim: {
          metadata: { namespace: 'default', name: 'root', labels: {}, annotations },
          spec: template.spec,
        },
      },
    ]);
  });

  it('are left alone when they are as wanted, or larger', () => {
    for (const storage of ['10Gi', '10240Mi', '11Gi'])
      assert.deepEqual(plan(machineWith([template]), [claimOf('root', storage, ownedByA)]), []);
  });

  it('grow with their template', () => {
    const [step, ...more] = plan(machineWith([template]), [claimOf('root', '9Gi', ownedByA)]);
    assert.deepEqual([step?.action, more], ['update-claim', []]);
    assert.deepEqual(step?.action === 'update-claim' && step.claim, claimOf('root', '10Gi', ownedByA));
  });

  it('are its own for as long as it uses them', () => {
    const steps = plan(machineWith([]), [claimOf('root', '1Gi'), claimOf('other', '1Gi', ownedByA)]);
    assert.deepEqual(
      steps.map((step) => step.action === 'update-claim' && step.claim.metadata.annotations),
      [{ [ownersAnnotation]: ownedByA }, {}],
    );
  });

  it('are none where the annotation is none', () => {
    for (const text of ['', '{', '{}', '[1]', '[{"metadata":{}}]'])
      assert.deepEqual(plan(machineWith(text), []), []);
  });

  it('may be data volumes, which go with it', () => {
    const source = { spec: { source: { blank: {} } } };
    const dataVolumeTemplates = [{ metadata: { name: 'data', labels: { a: 'b' } }, ...source }];
    const machine = machineWith('', { dataVolumeTemplates });
    const [step] = plan(machine, []);
    assert.equal(step?.action, 'create-data-volume');
    assert.deepEqual(step.dataVolume.metadata, {
      name: 'data',
      namespace: 'default',
      labels: { a: 'b', 'kubevirt.io/created-by': 'vm-1' },
      annotations: {},
      ownerReferences: [
        {
          apiVersion: 'kubevirt.io/v1',
          kind: 'VirtualMachine',
          name: 'a',
          uid: 'vm-1',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    assert.deepEqual(plan(machine, [], [step.dataVolume]), []);
    assert.deepEqual(plan(machine, [claimOf('data', '1Gi')]), [], 'a volume of this name is there already');
  });
});

describe('volumes of a machine that goes', () => {
  it('go with it if they are named, and are let go of otherwise', () => {
    const { metadata, spec } = machineWith([template]);
    const annotations = { 'harvesterhci.io/removedPersistentVolumeClaims': 'root, gone,' };
    const claims = [claimOf('root', '1Gi', ownedByA), claimOf('kept', '1Gi', ownedByA), claimOf('x', '1Gi')];
    const steps = planRelease({ metadata: { ...metadata, annotations }, spec }, claims);
    assert.deepEqual(
      steps.map(({ action, ...step }) => [action, 'claim' in step && step.claim.metadata]),
      [
        ['delete-claim', claims[0]?.metadata],
        ['update-claim', { namespace: 'default', name: 'kept', annotations: {} }],
      ],
    );
  });
});

describe('a volume of two machines', () => {
  it('stays for the other one, also if it is named', () => {
    const { metadata, spec } = machineWith([template]);
    const annotations = { 'harvesterhci.io/removedPersistentVolumeClaims': 'root' };
    const shared = claimOf('root', '1Gi', ownedByA.replace('"default/a"', '"default/a","default/b"'));
    assert.deepEqual(
      planRelease({ metadata: { ...metadata, annotations }, spec }, [shared]).map(({ action }) => action),
      ['update-claim'],
    );
  });
});

describe('owners of a claim', () => {
  it('are kept in order, beside those of other kinds', () => {
    const others = { [ownersAnnotation]: '[{"schema":"x","refs":["y"]}]', k: 'v' };
    const owned = withOwner(withOwner(others, 'n/b'), 'n/a');
    assert.deepEqual(owned, {
      k: 'v',
      [ownersAnnotation]:
        '[{"schema":"x","refs":["y"]},{"schema":"kubevirt.io.virtualmachine","refs":["n/a","n/b"]}]',
    });
    assert.equal(withOwner(owned, 'n/a'), owned);
    assert.deepEqual(withoutOwner(withoutOwner(owned, 'n/a'), 'n/b'), others);
    assert.equal(withoutOwner(others, 'n/a'), others);
  });

  it('that cannot be read are nobody', () => {
    assert.deepEqual(withOwner({ [ownersAnnotation]: '{' }, 'default/a'), { [ownersAnnotation]: ownedByA });
  });
});
