import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineEnd } from '@sheaf/ports';
import { conditionsOf, ended, type Given, plan, up } from './instance-plan.fixture.ts';
import { withStepFailure } from './step-failure.ts';
import type { InstanceStatus } from './virtual-machine.ts';

describe('a start', () => {
  it('is recorded, made with standing processors, and let go', () => {
    const first = plan({});
    assert.deepEqual(
      [first.status.phase, first.status.nodeName, first.step.action],
      ['Scheduled', 'node-1', 'start'],
    );
    const born = plan({ status: first.status, observation: { ...up, state: 'paused' } });
    assert.deepEqual([born.status.phase, born.step.action], ['Scheduled', 'resume']);
    const running = plan({ status: born.status, observation: up });
    assert.deepEqual([running.status.phase, running.step.action], ['Running', 'none']);
    assert.deepEqual(conditionsOf(running), [
      'Ready True',
      'AgentConnected True',
      'LiveMigratable False LiveMigrationUnavailable',
    ]);
    assert.deepEqual(
      running.status.phaseTransitionTimestamps?.map(({ phase }) => phase),
      ['Scheduled', 'Running'],
    );
  });

  it('says that it waits for its turn only when that takes time', () => {
    const obstacle = {
      reason: 'StartQueued',
      text: '8 others are being started',
      nature: 'transient',
    } as const;
    const shown = (madeMsAgo: number, status: InstanceStatus = {}): unknown => {
      const { step, status: next, recheckMs } = plan({ madeMsAgo, status, facts: { obstacle } });
      return [step.action, next.phase, recheckMs];
    };
    assert.deepEqual(
      [shown(500), shown(2500), shown(500, { phase: 'Pending' })],
      [
        ['none', undefined, 1000],
        ['none', 'Scheduling', 1000],
        ['none', 'Scheduling', 1000],
      ],
    );
  });

  it('waits for its parts as Pending and for room as Scheduling, and says so', () => {
    const waiting = {
      reason: 'FailedPvcNotFound',
      text: 'A claim is missing',
      nature: 'transient',
      object: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'c' },
    } as const;
    const missing = plan({ facts: { preparation: { state: 'waiting', waiting } } });
    assert.deepEqual(
      [missing.status.phase, missing.step.action, missing.recheckMs],
      ['Pending', 'none', 10_000],
    );
    assert.deepEqual(conditionsOf(missing), [
      'Ready False FailedPvcNotFound',
      'Synchronized False FailedPvcNotFound',
    ]);
    const obstacle = {
      reason: 'Unschedulable',
      text: 'No memory is left',
      nature: 'fault',
      wayOut: 'stop another machine',
    } as const;
    const full = plan({ status: missing.status, facts: { obstacle } });
    assert.deepEqual(
      [full.status.phase, full.status.nodeName, full.step.action],
      ['Scheduling', undefined, 'none'],
    );
    assert.ok(conditionsOf(full).includes('PodScheduled False Unschedulable'));
    const free = plan({ status: full.status });
    assert.equal(free.step.action, 'start');
    assert.deepEqual(conditionsOf(free), ['Ready False GuestNotRunning']);
  });

  it('that fails says so until it succeeds', () => {
    const first = plan({});
    const error = new Error('no room for a socket');
    const noted = withStepFailure(first.status, { step: first.step, error, now: '2026-01-01T00:01:00Z' });
    assert.equal(withStepFailure(noted, { step: first.step, error, now: '2026-01-01T00:02:00Z' }), noted);
    const again = plan({ status: noted });
    assert.deepEqual([again.step.action, again.status], ['start', noted]);
    assert.match(
      again.status.conditions?.find(({ type }) => type === 'Synchronized')?.message ?? '',
      /^The step start has failed: no room for a socket; tried again by itself$/,
    );
    assert.ok(
      !conditionsOf(plan({ status: noted, observation: up })).some((text) => text.startsWith('Sync')),
    );
  });

  it('is another node’s affair', () => {
    assert.deepEqual(plan({ status: { nodeName: 'node-2' } }), {
      status: { nodeName: 'node-2' },
      step: { action: 'none' },
      recheckMs: undefined,
    });
  });
});

describe('an end', () => {
  const cases: readonly (readonly [MachineEnd, number, string])[] = [
    [{ cause: 'guest-shutdown' }, 30, 'Succeeded GuestShutdown'],
    [{ cause: 'guest-panicked', message: 'x' }, 30, 'Failed GuestPanicked'],
    [{ cause: 'process-died', message: 'signal 9' }, 30, 'Failed ProcessDied'],
    [{ cause: 'host-restarted' }, 30, 'Failed HostRestarted'],
    [{ cause: 'start-failed', message: 'no disk' }, 30, 'Failed StartFailed'],
    [{ cause: 'stopped' }, 30, 'Failed Killed'],
    [{ cause: 'stopped' }, 0, 'Succeeded Stopped'],
  ];
  for (const [end, grace, expected] of cases)
    it(`${end.cause} with ${grace} s of grace: ${expected}`, () => {
      const { status, step } = plan({ status: { phase: 'Running' }, observation: ended(end), grace });
      assert.deepEqual([`${status.phase} ${status.reason}`, step.action], [expected, 'forget']);
    });

  it('that nobody saw still counts as a run, or not', () => {
    const phasesOf = (end: MachineEnd): unknown =>
      plan({ status: { phase: 'Scheduled' }, observation: ended(end) }).status.phaseTransitionTimestamps?.map(
        ({ phase }) => phase,
      );
    assert.deepEqual(phasesOf({ cause: 'guest-shutdown' }), ['Running', 'Succeeded']);
    assert.deepEqual(phasesOf({ cause: 'start-failed', message: 'x' }), ['Failed']);
  });

  it('without a trace is a failure', () => {
    const { status, step } = plan({ status: { phase: 'Running' } });
    assert.deepEqual([status.phase, status.reason, step.action], ['Failed', 'ProcessLost', 'none']);
  });

  it('is final: a process that is there nevertheless is ended, so that no disk has two writers', () => {
    const { status, step } = plan({ status: { phase: 'Failed' }, observation: up });
    assert.deepEqual([status.phase, step.action], ['Failed', 'end']);
  });
});

describe('a deletion', () => {
  const running = { phase: 'Running' } as const;
  const cases: readonly (readonly [string, Given, string, number | undefined])[] = [
    [
      'asks the guest',
      { status: running, observation: up, deletedSecondsAgo: 1 },
      'press-power-button',
      10_000,
    ],
    [
      'asks until the grace is over',
      { status: running, observation: up, deletedSecondsAgo: 25 },
      'press-power-button',
      5_000,
    ],
    ['ends it then', { status: running, observation: up, deletedSecondsAgo: 30 }, 'end', 0],
    [
      'ends it at once without grace',
      { status: running, observation: up, deletedSecondsAgo: 0, grace: 0 },
      'end',
      0,
    ],
    [
      'wakes a paused guest first',
      { status: running, observation: { ...up, state: 'paused' }, deletedSecondsAgo: 1 },
      'resume',
      10_000,
    ],
    [
      'waits for one that does not answer',
      { status: running, observation: { ...up, state: 'unresponsive' }, deletedSecondsAgo: 1 },
      'none',
      10_000,
    ],
    [
      'asks no guest that never ran',
      { status: { phase: 'Scheduled' }, observation: { ...up, state: 'paused' }, deletedSecondsAgo: 1 },
      'end',
      10_000,
    ],
  ];
  for (const [name, given, action, recheckMs] of cases)
    it(name, () => {
      const { step, recheckMs: recheck } = plan(given);
      assert.deepEqual([step.action, recheck], [action, recheckMs]);
    });

  it('before it ran ends at once, and is not counted as a failed start', () => {
    const { status, step } = plan({ status: { phase: 'Pending' }, deletedSecondsAgo: 0 });
    assert.deepEqual([status.phase, status.reason], ['Failed', 'DeletedBeforeStart']);
    assert.deepEqual(step, {
      action: 'release',
      finalizers: ['kubevirt.io/virtualMachineControllerFinalize'],
    });
  });

  it('lets go of everything where its virtual machine is gone', () => {
    const { step } = plan({
      status: { phase: 'Succeeded' },
      deletedSecondsAgo: 0,
      facts: { hasOwner: false },
    });
    assert.deepEqual(step, { action: 'release', finalizers: [] });
  });
});

describe('a start that was left in the middle', () => {
  const begun = { ...up, state: 'starting', devices: [] } as const;

  it('is called again', () => {
    const { step, status } = plan({ status: { phase: 'Scheduled' }, observation: begun });
    assert.deepEqual([step.action, status.phase], ['start', 'Scheduled']);
  });

  it('waits in sight if something has gone meanwhile', () => {
    const waiting = { reason: 'ObjectNotFound', text: 'A secret is missing', nature: 'transient' } as const;
    const { step, status, recheckMs } = plan({
      status: { phase: 'Scheduled' },
      observation: begun,
      facts: { preparation: { state: 'waiting', waiting } },
    });
    const reason = status.conditions?.find(({ type }) => type === 'Synchronized')?.reason;
    assert.deepEqual([step.action, reason, recheckMs], ['none', 'ObjectNotFound', 10_000]);
  });

  it('is ended if the instance is to go', () => {
    const { step } = plan({ status: { phase: 'Scheduled' }, observation: begun, deletedSecondsAgo: 0 });
    assert.equal(step.action, 'end');
  });
});
