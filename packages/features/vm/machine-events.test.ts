import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition } from '@sheaf/api';
import {
  eventsOfInstance,
  eventsOfInstanceStep,
  eventsOfMachine,
  eventsOfMachineStep,
} from './machine-events.ts';
import type { InstancePhase, InstanceStatus, VirtualMachineInstance } from './virtual-machine.ts';
import { machineOf } from './vm-world.fixture.ts';

const at = '2026-01-01T00:00:00Z';

function statusOf(phases: readonly InstancePhase[], ...conditions: readonly Condition[]): InstanceStatus {
  const phase = phases.at(-1);
  const phaseTransitionTimestamps = phases.map((each) => ({ phase: each, phaseTransitionTimestamp: at }));
  return { ...(phase ? { phase } : {}), phaseTransitionTimestamps, conditions };
}

function instanceOf(status: InstanceStatus, isDeleting = false): VirtualMachineInstance {
  const metadata = { namespace: 'default', name: 'a', ...(isDeleting ? { deletionTimestamp: at } : {}) };
  return { metadata, spec: { domain: { devices: {} } }, status };
}

function told(
  before: VirtualMachineInstance,
  status: InstanceStatus,
  action: 'none' | 'press-power-button' | 'end' = 'none',
): readonly string[] {
  const events = eventsOfInstance({ before, status, step: { action } });
  return events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
}

const notReady = (reason: string, message = ''): Condition => ({
  type: 'Ready',
  status: 'False',
  reason,
  message,
});
const waiting = (reason: string): Condition => ({
  type: 'Synchronized',
  status: 'False',
  reason,
  message: 'why',
});
const begun = statusOf(['Scheduled']);
const running = statusOf(['Scheduled', 'Running']);

describe('eventsOfInstance', () => {
  const started = [
    'Normal Created: VirtualMachineInstance defined.',
    'Normal Started: VirtualMachineInstance started.',
  ];
  it('tells the start and the end, once each', () => {
    assert.deepEqual(told(instanceOf(begun), running), started);
    assert.deepEqual(told(instanceOf(running), running), []);
    const succeeded = statusOf(['Scheduled', 'Running', 'Succeeded']);
    const stopped = 'Normal Stopped: The VirtualMachineInstance was shut down.';
    assert.deepEqual(told(instanceOf(running), succeeded), [stopped]);
    assert.deepEqual(told(instanceOf(begun), succeeded), [...started, stopped]);
    assert.deepEqual(told(instanceOf(succeeded), succeeded), []);
  });

  it('tells a crash from a start that failed, and says nothing of what was taken back', () => {
    const crashed = statusOf(['Running', 'Failed'], notReady('GuestPanicked', 'it panicked'));
    assert.deepEqual(told(instanceOf(running), crashed), [
      'Warning SyncFailed: it panicked',
      'Warning Stopped: The VirtualMachineInstance crashed.',
    ]);
    const unborn = statusOf(['Scheduled', 'Failed'], notReady('StartFailed', 'no such disk'));
    assert.deepEqual(told(instanceOf(begun), unborn), ['Warning SyncFailed: no such disk']);
    assert.deepEqual(told(instanceOf(begun, true), unborn), []);
  });

  it('tells a shutdown once, however often the button is pressed', () => {
    const terminating = statusOf(['Running'], notReady('PodTerminating'));
    const asked = ['Normal ShuttingDown: Signaled Graceful Shutdown'];
    assert.deepEqual(told(instanceOf(running, true), terminating, 'press-power-button'), asked);
    assert.deepEqual(told(instanceOf(terminating, true), terminating, 'press-power-button'), []);
    assert.deepEqual(told(instanceOf(running, true), terminating, 'end'), []);
    assert.deepEqual(eventsOfInstanceStep({ action: 'end' }), [
      { type: 'Normal', reason: 'Deleted', message: 'Signaled Deletion' },
    ]);
  });

  it('tells each new reason to wait, but not those that pass in moments', () => {
    const wait = (reason: string): InstanceStatus => statusOf(['Scheduling'], waiting(reason));
    const none = instanceOf({});
    assert.deepEqual(told(none, wait('Unschedulable')), ['Warning FailedScheduling: why']);
    assert.deepEqual(told(none, wait('StepFailed')), ['Warning SyncFailed: why']);
    assert.deepEqual(told(none, wait('FailedPvcNotFound')), ['Warning FailedPvcNotFound: why']);
    assert.deepEqual(told(instanceOf(wait('Unschedulable')), wait('Unschedulable')), []);
    assert.deepEqual(told(none, wait('StartQueued')), []);
  });
});

describe('events of machines', () => {
  const machine = machineOf('Always');

  it('tell what came of making and removing the instance', () => {
    const create = {
      action: 'create-instance',
      instance: instanceOf({}),
      revision: { metadata: {} },
    } as const;
    const remove = { action: 'delete-instance', uid: 'u' } as const;
    const words = [
      eventsOfMachineStep(create, machine),
      eventsOfMachineStep(create, machine, new Error('quota')),
      eventsOfMachineStep(remove, machine),
      eventsOfMachineStep(remove, machine, new Error('away')),
      eventsOfMachineStep({ action: 'none' }, machine),
    ].map(([event]) => event && `${event.type} ${event.reason}: ${event.message}`);
    assert.deepEqual(words, [
      'Normal SuccessfulCreate: Started the virtual machine by creating the new virtual machine instance a',
      'Warning FailedCreate: Error creating virtual machine instance: quota',
      'Normal SuccessfulDelete: Stopped the virtual machine by deleting the virtual machine instance u',
      'Warning FailedDelete: Error deleting virtual machine instance a: away',
      undefined,
    ]);
  });

  it('tell a failure when it is new', () => {
    const failure = { type: 'Failure', status: 'True', reason: 'X', message: 'why' } as const;
    const status = { conditions: [failure] };
    assert.deepEqual(eventsOfMachine(machine, status), [{ type: 'Warning', reason: 'X', message: 'why' }]);
    assert.deepEqual(eventsOfMachine({ ...machine, status }, status), []);
  });
});
