import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineEnd, MachineObservation, MachineSpec } from '@sheaf/ports';
import { readGuestInterfaces, readGuestOs } from './guest-report.ts';
import { type InstanceFacts, type InstancePlan, planInstance } from './instance-plan.ts';
import type { GrowthObstacles } from './node-room.ts';
import { withStepFailure } from './step-failure.ts';
import type { InstanceStatus, VirtualMachineInstance } from './virtual-machine.ts';

const nowMs = Date.parse('2026-01-01T00:01:00Z');
const disk = {
  name: 'root',
  device: 'disk',
  bus: 'virtio',
  file: { path: '/v/root', format: 'raw' },
} as const;
const nic = { name: 'default', model: 'virtio', mac: '52:54:00:00:00:01', link: { kind: 'user' } } as const;

const spec: MachineSpec = {
  id: 'u1',
  title: 'default/a',
  machineType: 'q35',
  cpu: { sockets: 2, cores: 1, threads: 1, maxSockets: 4 },
  memory: { bytes: 2 ** 30 },
  firmware: { kind: 'bios' },
  identity: { uuid: '00000000-0000-4000-8000-000000000000' },
  disks: [disk],
  nics: [nic],
  hasGraphics: true,
  hasSerialConsole: true,
  hasAgentChannel: true,
  hasRandomSource: false,
  hasBalloon: true,
};

const up: MachineObservation = {
  id: 'u1',
  title: 'default/a',
  state: 'running',
  startedAt: 0,
  devices: [
    { name: 'root', kind: 'disk', path: '/v/root', isLeaving: false },
    { name: 'default', kind: 'nic', isLeaving: false },
  ],
  forwards: [],
  sockets: 2,
  memoryBytes: 2 ** 30,
  isAgentConnected: true,
  guestResets: 0,
};

interface Given {
  readonly status?: InstanceStatus;
  readonly observation?: MachineObservation;
  readonly deletedSecondsAgo?: number;
  readonly grace?: number;
  readonly madeMsAgo?: number;
  readonly facts?: Partial<InstanceFacts>;
}

function plan(given: Given): InstancePlan {
  const { status = {}, observation, deletedSecondsAgo, grace = 30, madeMsAgo = 60_000, facts = {} } = given;
  const deletion =
    deletedSecondsAgo === undefined
      ? {}
      : { deletionTimestamp: new Date(nowMs - deletedSecondsAgo * 1000).toISOString() };
  const instance: VirtualMachineInstance = {
    metadata: {
      namespace: 'default',
      name: 'a',
      uid: 'u1',
      creationTimestamp: new Date(nowMs - madeMsAgo).toISOString(),
      finalizers: ['foregroundDeleteVirtualMachine', 'kubevirt.io/virtualMachineControllerFinalize'],
      ...deletion,
    },
    spec: {
      domain: { devices: {} },
      terminationGracePeriodSeconds: grace,
      volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'c' } }],
    },
    status,
  };
  return planInstance({
    instance,
    hasOwner: true,
    observation,
    preparation: { state: 'ready', spec, warnings: [] },
    nodeName: 'node-1',
    obstacle: undefined,
    guest: undefined,
    liveMigration: { isAvailable: false, reason: 'there is one node', wayOut: 'add a second node' },
    nowMs,
    ...facts,
  });
}

function ended(end: MachineEnd): MachineObservation {
  return { ...up, state: 'ended', end };
}

function conditionsOf({ status }: InstancePlan): readonly string[] {
  return (status.conditions ?? []).map(({ type, status: value, reason }) =>
    [type, value, reason].filter(Boolean).join(' '),
  );
}

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

describe('a running machine', () => {
  const stepFor = (change: Partial<MachineSpec>, observation: Partial<MachineObservation> = {}): unknown =>
    plan({
      status: { phase: 'Running' },
      observation: { ...up, ...observation },
      facts: { preparation: { state: 'ready', spec: { ...spec, ...change }, warnings: [] } },
    }).step;
  const second = { ...disk, name: 'data', file: { path: '/v/data', format: 'raw' } } as const;
  const drive = { name: 'cd', device: 'cdrom', bus: 'sata' } as const;
  const withDrive = {
    devices: [...up.devices, { name: 'cd', kind: 'disk', path: '/v/old.iso', isLeaving: false }],
  } as const;

  it('gets and loses devices one by one', () => {
    assert.deepEqual(stepFor({ disks: [disk, second] }), { action: 'attach-disk', disk: second });
    assert.deepEqual(stepFor({ disks: [disk] }, withDrive), { action: 'detach-disk', name: 'cd' });
    assert.deepEqual(stepFor({ disks: [disk, drive] }, withDrive), {
      action: 'change-medium',
      name: 'cd',
      file: undefined,
    });
    assert.deepEqual(stepFor({ nics: [nic, { ...nic, name: 'b' }] }), {
      action: 'attach-nic',
      nic: { ...nic, name: 'b' },
    });
    assert.deepEqual(stepFor({ nics: [] }), { action: 'detach-nic', name: 'default' });
  });

  it('gets more processors and memory, never less', () => {
    assert.deepEqual(stepFor({ cpu: { ...spec.cpu, sockets: 3 } }), { action: 'set-sockets', sockets: 3 });
    assert.deepEqual(stepFor({ memory: { bytes: 2 ** 31 } }), { action: 'set-memory', bytes: 2 ** 31 });
    assert.deepEqual(stepFor({ cpu: { ...spec.cpu, sockets: 1 }, memory: { bytes: 2 ** 29 } }), {
      action: 'none',
    });
  });

  it('grows in what there is room for, and says what it waits for', () => {
    const lacking = (text: string) => ({ reason: 'Unschedulable', text, nature: 'transient' }) as const;
    const grown: MachineSpec = { ...spec, cpu: { ...spec.cpu, sockets: 3 }, memory: { bytes: 2 ** 31 } };
    const facts = { preparation: { state: 'ready', spec: grown, warnings: [] } } as const;
    const grow = (growth: GrowthObstacles): readonly unknown[] => {
      const { step, recheckMs, status } = plan({
        status: { phase: 'Running' },
        observation: up,
        facts: { ...facts, growth },
      });
      const told = status.conditions?.filter(({ type }) => type.startsWith('Hot'));
      return [
        step.action,
        recheckMs,
        told?.map(({ type, status: value, message }) => `${type} ${value} ${message}`),
      ];
    };
    const again = 'tried again by itself';
    assert.deepEqual(
      [
        grow({}),
        grow({ cpu: lacking('no cpu') }),
        grow({ cpu: lacking('no cpu'), memory: lacking('no memory') }),
      ],
      [
        ['set-sockets', undefined, []],
        ['set-memory', undefined, [`HotVCPUChange True no cpu; ${again}`]],
        ['none', 10_000, [`HotVCPUChange True no cpu; ${again}`, `HotMemoryChange True no memory; ${again}`]],
      ],
    );
  });

  it('is asked once to let go of a device', () => {
    const leaving = { devices: [...up.devices, { name: 'cd', kind: 'disk', isLeaving: true }] } as const;
    assert.deepEqual(stepFor({}, leaving), { action: 'none' });
  });

  it('shows what its guest says, and no more than fits', () => {
    const guest = {
      os: readGuestOs({ id: 'debian', 'pretty-name': 'Debian', version: 'x'.repeat(1000), machine: 3 }),
      interfaces: readGuestInterfaces([
        { name: 'lo', 'hardware-address': '00:00:00:00:00:00' },
        {
          name: 'eth0',
          'hardware-address': '52:54:00:00:00:01',
          'ip-addresses': [
            { 'ip-address': '10.0.2.15' },
            { 'ip-address': 'fe80::1' },
            { 'ip-address': '<b>' },
          ],
        },
        null,
      ]),
    };
    const { status } = plan({ status: { phase: 'Running' }, observation: up, facts: { guest } });
    assert.deepEqual(JSON.parse(JSON.stringify(status.interfaces)), [
      {
        name: 'default',
        mac: '52:54:00:00:00:01',
        ipAddress: '10.0.2.15',
        ipAddresses: ['10.0.2.15'],
        interfaceName: 'eth0',
        infoSource: 'domain, guest-agent',
        linkState: 'up',
      },
    ]);
    assert.deepEqual(JSON.parse(JSON.stringify(status.guestOSInfo)), {
      id: 'debian',
      prettyName: 'Debian',
      version: 'x'.repeat(256),
    });
    assert.deepEqual(status.memory, { guestAtBoot: '1Gi', guestCurrent: '1Gi', guestRequested: '1Gi' });
  });

  it('that is paused or does not answer says so, and keeps its phase', () => {
    const paused = plan({ status: { phase: 'Running' }, observation: { ...up, state: 'paused' } });
    assert.deepEqual([paused.status.phase, paused.step.action], ['Running', 'none']);
    assert.ok(conditionsOf(paused).includes('Paused True PausedByUser'));
    const stalled = plan({ status: paused.status, observation: { ...up, state: 'unresponsive' } });
    assert.deepEqual(
      conditionsOf(stalled).filter((text) => !text.startsWith('Live') && !text.startsWith('Agent')),
      ['Ready False Unresponsive'],
    );
  });
});
