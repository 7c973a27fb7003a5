import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoryStartText, startFromMemoryAnnotation } from '@sheaf/api/virtualization/index';
import type { MemoryObservation } from '@sheaf/ports';
import { chooseMemory, memoryAnnotationOf, withMemoryGiven } from './memory-start.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';

const text = memoryStartText({ memoryId: 'b-1', claims: ['c'] });
const asked = { [startFromMemoryAnnotation]: text };
const spec = {
  domain: { devices: {} },
  volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'c' } }],
};
const machine: VirtualMachine = {
  metadata: { namespace: 'default', name: 'm', annotations: { ...asked, other: 'kept' } },
  spec: { runStrategy: 'Always', template: { spec } },
};
const instance: VirtualMachineInstance = {
  metadata: { namespace: 'default', name: 'm', uid: 'i-1', annotations: memoryAnnotationOf(machine) },
  spec,
};
const kept: MemoryObservation = { id: 'b-1', title: 'm', state: 'kept', path: '/b-1', allocatedBytes: 1 };
const given = withMemoryGiven(machine, instance) ?? assert.fail('nothing is given');

const choose = (
  of: VirtualMachineInstance,
  by: VirtualMachine | undefined,
  memories: readonly MemoryObservation[] = [kept],
): string => {
  const { path, waiting } = chooseMemory(of, { machine: by, memories });
  return path ?? waiting?.reason ?? 'boots';
};

describe('a start with memory', () => {
  it('waits until the machine has given the memory to its instance, which then goes on with it', () => {
    assert.equal(choose(instance, machine), 'MemoryNotGiven');
    assert.deepEqual(given.metadata.annotations, { other: 'kept', 'sheaf.dev/memory-given-to': 'i-1' });
    assert.equal(choose(instance, given), '/b-1');
    assert.equal(withMemoryGiven(given, instance), undefined);
  });

  it('happens once: whatever comes after it boots, also what was made for it, too', () => {
    const second = { ...instance, metadata: { ...instance.metadata, uid: 'i-2' } };
    assert.equal(choose(second, given), 'boots');
    assert.deepEqual(memoryAnnotationOf(given), {});
    const third = { ...second, metadata: { ...second.metadata, annotations: {} } };
    assert.equal(choose(third, given), 'boots');
    assert.equal(choose(instance, undefined), 'boots');
  });

  it('that is asked for anew is given to another instance only', () => {
    const metadata = { ...given.metadata, annotations: { ...given.metadata.annotations, ...asked } };
    const again = { ...given, metadata };
    const second = { ...instance, metadata: { ...instance.metadata, uid: 'i-2' } };
    assert.equal(choose(second, again), 'MemoryNotGiven');
    assert.equal(choose(second, withMemoryGiven(again, second)), '/b-1');
  });

  it('says what stands against it, and how to boot', () => {
    const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'another' } }];
    assert.equal(choose({ ...instance, spec: { ...spec, volumes } }, given), 'MemoryUnusable');
    for (const memories of [[], [{ ...kept, state: 'prepared' as const }]]) {
      assert.equal(choose(instance, given, memories), 'MemoryLost');
      const { waiting } = chooseMemory(instance, { machine: given, memories });
      assert.match(waiting?.wayOut ?? '', /restart the machine/);
    }
  });
});
