import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestRestart, requestStart, requestStop } from './lifecycle-request.ts';
import type { RunStrategy } from './virtual-machine.ts';
import { machineOf, VmWorld } from './vm-world.fixture.ts';

/**
 * What each strategy makes of each event, cell by cell. Every row begins with a machine that the strategy has brought up (under
 * Manual and Halted by a user's start; Halted is then set again where the row is about it), and names where it ends.
 *
 * Sources, by letter: D the user documentation of run strategies; C the controller (`syncRunStrategy` and what it calls);
 * L the handlers of the life cycle requests; S the strategy's own definition; O ours, with the reason in the row.
 */
interface Row {
  readonly event: string;
  readonly when: (world: VmWorld) => void;
  readonly ends: Readonly<Record<Exclude<RunStrategy, 'WaitAsReceiver'>, string>>;
}

const stop = (world: VmWorld): string => world.request(requestStop(targetOf(world), {}));
const start = (world: VmWorld): string => world.request(requestStart(targetOf(world), {}));
const restart = (world: VmWorld): string => world.request(requestRestart(targetOf(world), {}));

function targetOf({ machine, instance }: VmWorld): Parameters<typeof requestStop>[0] {
  assert.ok(machine);
  return { machine, instance };
}

/** A request, and what the client is told if it is refused. */
function asked(request: (world: VmWorld) => string): (world: VmWorld) => void {
  return (world) => {
    const answer = request(world);
    if (answer !== 'accepted') world.steps.push(`refused ${answer}`);
  };
}

const rows: readonly Row[] = [
  {
    // D: Always, RerunOnFailure and Once start by themselves; Manual only on request; Halted never.
    event: 'nothing',
    when: () => undefined,
    ends: { Always: 'running', RerunOnFailure: 'running', Once: 'running', Manual: 'running', Halted: 'off' },
  },
  {
    // D, C: Always runs whatever happened; RerunOnFailure removes it and stays off; Once and Manual leave it as it is.
    event: 'guest shuts down',
    when: (world) => world.endProcess({ cause: 'guest-shutdown' }),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'off',
      Once: 'Succeeded',
      Manual: 'Succeeded',
      Halted: 'off',
    },
  },
  {
    // D, C: RerunOnFailure asks itself for a start; Once and Manual leave the failed instance to be looked at.
    event: 'guest crashes',
    when: (world) => world.endProcess({ cause: 'guest-panicked', message: 'pvpanic' }),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'Failed',
      Manual: 'Failed',
      Halted: 'off',
    },
  },
  {
    // C: a domain that is gone without a word is Failed.
    event: 'process is killed',
    when: (world) => world.endProcess({ cause: 'process-died', message: 'signal 9' }),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'Failed',
      Manual: 'Failed',
      Halted: 'off',
    },
  },
  {
    // C: an instance whose node lost it is Failed, so the row above.
    event: 'host restarts',
    when: (world) => world.endProcess({ cause: 'host-restarted' }),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'Failed',
      Manual: 'Failed',
      Halted: 'off',
    },
  },
  {
    // L: Always and Once become Halted; RerunOnFailure and Manual keep their strategy; Halted has nothing to stop.
    event: 'user stops',
    when: asked(stop),
    ends: {
      Always: 'off, is Halted',
      RerunOnFailure: 'off',
      Once: 'off, is Halted',
      Manual: 'off',
      Halted: 'off, refused 409',
    },
  },
  {
    // L: 409 for a machine that runs, with every strategy; a start under Halted makes it Always.
    event: 'user starts',
    when: asked(start),
    ends: {
      Always: 'running, refused 409',
      RerunOnFailure: 'running, refused 409',
      Once: 'running, refused 409',
      Manual: 'running, refused 409',
      Halted: 'running, is Always',
    },
  },
  {
    // L, D: a restart is a stop and a start; Once runs once, Halted does not run.
    event: 'user restarts',
    when: asked(restart),
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'running, refused 409',
      Manual: 'running, made 2',
      Halted: 'off, refused 409',
    },
  },
  {
    // L: what is off cannot be restarted. Always is off only as Halted by then.
    event: 'user restarts what was stopped',
    when: (world) => {
      stop(world);
      world.settle();
      asked(restart)(world);
    },
    ends: {
      Always: 'off, is Halted, refused 409',
      RerunOnFailure: 'off, refused 409',
      Once: 'off, is Halted, refused 409',
      Manual: 'off, refused 409',
      Halted: 'off, refused 409',
    },
  },
  {
    // L: Manual and RerunOnFailure start on request; what a stop made Halted becomes Always.
    event: 'user stops, then starts',
    when: (world) => {
      stop(world);
      world.settle();
      asked(start)(world);
    },
    ends: {
      Always: 'running, made 2',
      RerunOnFailure: 'running, made 2',
      Once: 'running, made 2, is Always',
      Manual: 'running, made 2',
      Halted: 'running, is Always',
    },
  },
  {
    // L: a final instance under Manual is stopped first; under RerunOnFailure it is gone by now; Always and Once refuse.
    event: 'guest shuts down, then user starts',
    when: (world) => {
      world.endProcess({ cause: 'guest-shutdown' });
      world.settle();
      asked(start)(world);
    },
    ends: {
      Always: 'running, made 2, refused 409',
      RerunOnFailure: 'running, made 2',
      Once: 'Succeeded, refused 409',
      Manual: 'running, made 2',
      Halted: 'running, is Always',
    },
  },
  {
    // C: the end of an instance that someone deleted is no failure. O: Once has run, so it is not made again.
    event: 'user deletes the instance',
    when: (world) => world.deleteInstance(),
    ends: { Always: 'running, made 2', RerunOnFailure: 'off', Once: 'off', Manual: 'off', Halted: 'off' },
  },
  {
    // O: the stop that a user has asked for is kept, although the guest crashes on its way down. KubeVirt starts it again.
    event: 'guest crashes while the user stops',
    when: (world) => {
      stop(world);
      world.endProcess({ cause: 'guest-panicked', message: 'pvpanic' });
    },
    ends: {
      Always: 'off, is Halted',
      RerunOnFailure: 'off',
      Once: 'off, is Halted',
      Manual: 'off',
      Halted: 'off',
    },
  },
  {
    // C: the instance is stopped first, then nothing is left.
    event: 'user deletes the machine',
    when: (world) => world.deleteMachine(),
    ends: { Always: 'gone', RerunOnFailure: 'gone', Once: 'gone', Manual: 'gone', Halted: 'gone' },
  },
];

const strategies = ['Always', 'RerunOnFailure', 'Once', 'Manual', 'Halted'] as const;

function broughtUp(strategy: RunStrategy): VmWorld {
  const world = new VmWorld(machineOf(strategy));
  world.settle();
  if (strategy === 'Manual') start(world);
  world.settle();
  world.steps.length = 0;
  return world;
}

function outcomeOf(world: VmWorld, strategy: RunStrategy): string {
  const parts = [world.outcome];
  if (world.starts > 1) parts.push(`made ${world.starts}`);
  const now = world.machine?.spec.runStrategy;
  if (now !== undefined && now !== strategy) parts.push(`is ${now}`);
  return [...parts, ...world.steps.filter((step) => step.startsWith('refused'))].join(', ');
}

describe('run strategies', () => {
  for (const { event, when, ends } of rows)
    for (const strategy of strategies)
      it(`${strategy}: ${event}: ${ends[strategy]}`, () => {
        const world = broughtUp(strategy);
        when(world);
        world.settleLater(0);
        const expected = ends[strategy];
        assert.equal(outcomeOf(world, strategy), expected);
      });
});
