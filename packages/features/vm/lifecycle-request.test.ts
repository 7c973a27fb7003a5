import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition } from '@sheaf/api';
import { type LifecycleAnswer, requestRestart, requestStart, requestStop } from './lifecycle-request.ts';
import {
  type ProcessAnswer,
  requestPause,
  requestReset,
  requestSoftReboot,
  requestUnpause,
} from './process-request.ts';
import type { InstancePhase, RunStrategy, VirtualMachineInstance } from './virtual-machine.ts';
import { runStrategies } from './virtual-machine.ts';
import { machineOf } from './vm-world.fixture.ts';
import {
  requestAddInstanceVolume,
  requestAddVolume,
  requestRemoveInstanceVolume,
  requestRemoveVolume,
} from './volume-change.ts';

function instanceIn(phase: InstancePhase, conditions: readonly Condition[] = []): VirtualMachineInstance {
  return {
    metadata: { namespace: 'default', name: 'a', uid: 'vmi-1' },
    spec: { domain: { devices: {} }, terminationGracePeriodSeconds: 60 },
    status: { phase, conditions },
  };
}

/** What a request writes, or the code that it is refused with. */
function shown(answer: LifecycleAnswer): unknown {
  if (!answer.isAccepted) return answer.error.code;
  return answer.writes.map(({ target, object }) => {
    if (target === 'machine') return object.spec.runStrategy;
    if (target === 'instance') return object.spec.terminationGracePeriodSeconds;
    return object.status?.stateChangeRequests?.map(({ action, uid }) => (uid ? `${action} ${uid}` : action));
  });
}

type ByStrategy = Readonly<Record<RunStrategy, unknown>>;

function table(request: (strategy: RunStrategy) => LifecycleAnswer): ByStrategy {
  return Object.fromEntries(
    runStrategies.map((strategy) => [strategy, shown(request(strategy))]),
  ) as ByStrategy;
}

describe('start', () => {
  const start = (instance?: VirtualMachineInstance): ByStrategy =>
    table((strategy) => requestStart({ machine: machineOf(strategy), instance }, {}));

  it('of a machine that is off', () => {
    assert.deepEqual(start(), {
      Always: 409,
      Halted: ['Always'],
      Manual: [['Start']],
      RerunOnFailure: [['Start']],
      Once: 409,
      WaitAsReceiver: 409,
    });
  });

  it('of a machine whose guest has shut down', () => {
    const { Manual, RerunOnFailure } = start(instanceIn('Succeeded'));
    assert.deepEqual([Manual, RerunOnFailure], [[['Stop vmi-1', 'Start']], [['Stop vmi-1', 'Start']]]);
  });

  it('of a machine that has failed', () => {
    const { Manual, RerunOnFailure } = start(instanceIn('Failed'));
    assert.deepEqual([Manual, RerunOnFailure], [[['Stop vmi-1', 'Start']], 409]);
  });

  it('of a machine that was stopped, as soon as its guest has ended', () => {
    const stopped = (strategy: RunStrategy, instance?: VirtualMachineInstance): unknown => {
      const machine = machineOf(strategy);
      const stateChangeRequests = [{ action: 'Stop', uid: 'vmi-1' }] as const;
      return shown(requestStart({ machine: { ...machine, status: { stateChangeRequests } }, instance }, {}));
    };
    for (const strategy of ['Manual', 'RerunOnFailure'] as const) {
      assert.deepEqual(stopped(strategy), [['Start']]);
      assert.deepEqual(stopped(strategy, instanceIn('Succeeded')), [['Stop vmi-1', 'Start']]);
      assert.deepEqual(stopped(strategy, instanceIn('Failed')), [['Stop vmi-1', 'Start']]);
      assert.equal(stopped(strategy, instanceIn('Running')), 409);
    }
  });

  it('of a machine that runs: 409, in words that clients know', () => {
    assert.deepEqual(new Set(Object.values(start(instanceIn('Running')))), new Set([409]));
    const answer = requestStart({ machine: machineOf('Manual'), instance: instanceIn('Running') }, {});
    assert.equal(
      !answer.isAccepted && answer.error.message,
      'Operation cannot be fulfilled on virtualmachine.kubevirt.io "a": VM is already running; nothing is to be done',
    );
  });

  it('clears the count of failed starts', () => {
    const startFailure = { consecutiveFailCount: 3, lastFailedVMIUID: 'x', retryAfterTimestamp: 'y' };
    const machine = { ...machineOf('RerunOnFailure'), status: { startFailure } };
    const answer = requestStart({ machine, instance: undefined }, {});
    assert.ok(answer.isAccepted && answer.writes[0]?.target === 'machine-status');
    assert.equal(answer.writes[0].object.status?.startFailure, undefined);
  });
});

describe('stop', () => {
  const stop = (instance?: VirtualMachineInstance, gracePeriod?: number): ByStrategy =>
    table((strategy) =>
      requestStop(
        { machine: machineOf(strategy), instance },
        gracePeriod === undefined ? {} : { gracePeriod },
      ),
    );

  it('of a machine that runs', () => {
    assert.deepEqual(stop(instanceIn('Running')), {
      Always: ['Halted'],
      Halted: 409,
      Manual: [['Stop vmi-1']],
      RerunOnFailure: [['Stop vmi-1']],
      Once: ['Halted'],
      WaitAsReceiver: ['Halted'],
    });
  });

  it('with less patience; Halted takes only that', () => {
    const { Halted, Manual, Always } = stop(instanceIn('Running'), 0);
    assert.deepEqual(
      [Halted, Manual, Always],
      [
        [0, ['Stop vmi-1']],
        [0, ['Stop vmi-1']],
        [0, 'Halted'],
      ],
    );
    assert.equal(stop(instanceIn('Running'), 60).Halted, 409);
    assert.equal(stop(instanceIn('Running'), -1).Manual, 400);
  });

  it('of a machine that is off; one that tries to start can still be stopped', () => {
    const { Always, Manual, RerunOnFailure, Halted } = stop();
    assert.deepEqual([Always, Manual, RerunOnFailure, Halted], [['Halted'], 409, 409, 409]);
  });

  it('takes the place of a request that is under way, which another start does not', () => {
    const machine = {
      ...machineOf('Manual'),
      status: { stateChangeRequests: [{ action: 'Start' as const }] },
    };
    assert.deepEqual(shown(requestStop({ machine, instance: instanceIn('Scheduled') }, {})), [
      ['Stop vmi-1'],
    ]);
    assert.equal(shown(requestStart({ machine, instance: undefined }, {})), 409);
  });
});

it('restart', () => {
  const restart = (options: { readonly gracePeriodSeconds?: number }): ByStrategy =>
    table((strategy) =>
      requestRestart({ machine: machineOf(strategy), instance: instanceIn('Running') }, options),
    );
  const requests = ['Stop vmi-1', 'Start'];
  assert.deepEqual(restart({}), {
    Always: [requests],
    Halted: 409,
    Manual: [requests],
    RerunOnFailure: [requests],
    Once: 409,
    WaitAsReceiver: [requests],
  });
  assert.deepEqual(restart({ gracePeriodSeconds: 0 }).Manual, [0, requests]);
  assert.equal(restart({ gracePeriodSeconds: 5 }).Manual, 400);
  assert.equal(shown(requestRestart({ machine: machineOf('Manual'), instance: undefined }, {})), 409);
});

it('pause, unpause, soft reboot and reset', () => {
  const code = (answer: ProcessAnswer): unknown => (answer.isAccepted ? answer.action : answer.error.code);
  const running = instanceIn('Running');
  const paused = instanceIn('Running', [{ type: 'Paused', status: 'True' }]);
  const withAgent = instanceIn('Running', [{ type: 'AgentConnected', status: 'True' }]);
  const probed = { ...running, spec: { ...running.spec, livenessProbe: {} } };
  const snapshotted = { ...machineOf('Always'), status: { snapshotInProgress: 's' } };
  const each = [running, paused, instanceIn('Scheduled'), probed];
  assert.deepEqual(
    each.map((instance) => code(requestPause(instance))),
    ['pause', 409, 409, 403],
  );
  assert.deepEqual(
    each.map((instance) => code(requestUnpause(instance, undefined))),
    [409, 'resume', 409, 409],
  );
  assert.equal(code(requestUnpause(paused, snapshotted)), 409);
  assert.deepEqual(
    [running, paused, withAgent].map((instance) => code(requestSoftReboot(instance))),
    [409, 409, 'reboot-by-agent'],
  );
  assert.deepEqual(
    each.map((instance) => code(requestReset(instance))),
    ['reset', 'reset', 409, 'reset'],
  );
});

describe('volumes', () => {
  const options = { name: 'data', disk: {}, volumeSource: { persistentVolumeClaim: { claimName: 'c' } } };
  const machine = machineOf('Always');

  it('come and go by name', () => {
    const added = requestAddVolume(machine, options);
    assert.ok(added.isAccepted && added.writes[0]?.target === 'machine');
    const { volumes, domain } = added.writes[0].object.spec.template.spec;
    assert.deepEqual(volumes, [
      { name: 'data', persistentVolumeClaim: { claimName: 'c', hotpluggable: true } },
    ]);
    assert.deepEqual(domain.devices.disks, [{ name: 'data', disk: { bus: 'scsi' } }]);
    const removed = requestRemoveVolume(added.writes[0].object, { name: 'data' });
    assert.ok(removed.isAccepted && removed.writes[0]?.target === 'machine');
    assert.deepEqual(removed.writes[0].object.spec.template.spec.volumes, []);
    assert.equal(shown(requestAddVolume(added.writes[0].object, options)), 409);
    assert.equal(shown(requestAddVolume(added.writes[0].object, { ...options, name: 'other' })), 409);
  });

  it('what cannot be done', () => {
    const { disk, volumeSource } = options;
    assert.equal(shown(requestAddVolume(machine, { disk, volumeSource })), 400);
    assert.equal(shown(requestAddVolume(machine, { name: 'data', volumeSource })), 400);
    assert.equal(shown(requestAddVolume(machine, { name: 'data', disk })), 400);
    assert.equal(shown(requestRemoveVolume(machine, {})), 400);
    assert.equal(shown(requestRemoveVolume(machine, { name: 'data' })), 409);
    assert.equal(shown(requestAddInstanceVolume(instanceIn('Scheduled'), options)), 409);
    assert.equal(shown(requestRemoveInstanceVolume(instanceIn('Running'), { name: 'data' })), 409);
  });
});
