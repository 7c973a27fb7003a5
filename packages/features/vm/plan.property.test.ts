import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { requestRestart, requestStart, requestStop } from './lifecycle-request.ts';
import { runStrategies, runStrategyOf } from './virtual-machine.ts';
import { machineOf, VmWorld } from './vm-world.fixture.ts';

const events = [
  'machine pass',
  'instance pass',
  'cut machine pass',
  'cut instance pass',
  'start',
  'paused start',
  'stop',
  'restart',
  'guest shutdown',
  'guest crash',
  'kill',
  'host restart',
  'delete instance',
  'something is missing',
  'nothing is missing',
  'starts fail',
  'starts succeed',
  'guest is deaf',
  'guest listens',
  'time passes',
] as const;

type WorldEvent = (typeof events)[number] | (typeof runStrategies)[number];

const actions: Readonly<Record<(typeof events)[number], (world: VmWorld) => void>> = {
  'machine pass': (world) => world.passMachine(),
  'instance pass': (world) => world.passInstance(),
  'cut machine pass': (world) => world.passMachine({ isCutAfterStatus: true }),
  'cut instance pass': (world) => world.passInstance({ isCutAfterStatus: true }),
  start: (world) => void world.request(requestStart(targetOf(world), {})),
  'paused start': (world) => void world.request(requestStart(targetOf(world), { paused: true })),
  stop: (world) => void world.request(requestStop(targetOf(world), {})),
  restart: (world) => void world.request(requestRestart(targetOf(world), {})),
  'guest shutdown': (world) => world.endProcess({ cause: 'guest-shutdown' }),
  'guest crash': (world) => world.endProcess({ cause: 'guest-panicked', message: 'x' }),
  kill: (world) => world.endProcess({ cause: 'process-died', message: 'x' }),
  'host restart': (world) => world.endProcess({ cause: 'host-restarted' }),
  'delete instance': (world) => world.deleteInstance(),
  'something is missing': (world) => setAll(world, { isPrepared: false }),
  'nothing is missing': (world) => setAll(world, { isPrepared: true }),
  'starts fail': (world) => setAll(world, { startFailure: 'no' }),
  'starts succeed': (world) => setAll(world, { startFailure: undefined }),
  'guest is deaf': (world) => setAll(world, { isGuestListening: false }),
  'guest listens': (world) => setAll(world, { isGuestListening: true }),
  'time passes': (world) => setAll(world, { nowMs: world.nowMs + 7_000 }),
};

function setAll(
  world: VmWorld,
  change: Partial<Pick<VmWorld, 'isPrepared' | 'startFailure' | 'isGuestListening' | 'nowMs'>>,
): void {
  Object.assign(world, change);
}

function targetOf({ machine, instance }: VmWorld): Parameters<typeof requestStop>[0] {
  assert.ok(machine);
  return { machine, instance };
}

function happen(world: VmWorld, event: WorldEvent): void {
  const strategy = runStrategies.find((each) => each === event);
  if (strategy) world.change({ runStrategy: strategy });
  else actions[event as (typeof events)[number]](world);
}

/** Everything that was broken works again; time goes on until nothing is waited for. */
function heal(world: VmWorld): void {
  setAll(world, { isPrepared: true, startFailure: undefined, isGuestListening: true });
  for (let count = 0; count < 4; count++) world.settleLater(301);
}

const goals: Readonly<Record<(typeof runStrategies)[number], readonly string[]>> = {
  Always: ['running', 'paused'],
  Halted: ['off'],
  RerunOnFailure: ['running', 'paused', 'off'],
  Manual: ['running', 'paused', 'off', 'Succeeded', 'Failed'],
  Once: ['running', 'paused', 'off', 'Succeeded', 'Failed'],
  WaitAsReceiver: ['running', 'paused', 'off', 'Succeeded', 'Failed'],
};

const history = fc.array(fc.constantFrom<WorldEvent>(...events, ...runStrategies), { maxLength: 40 });

it('after any history the goal of the strategy is reached, and no second process was ever made', () => {
  fc.assert(
    fc.property(fc.constantFrom(...runStrategies), history, (strategy, happenings) => {
      const world = new VmWorld(machineOf(strategy));
      for (const event of happenings) happen(world, event);
      heal(world);
      assert.ok(world.machine);
      const now = runStrategyOf(world.machine.spec);
      assert.ok(goals[now].includes(world.outcome), `${now} ended ${world.outcome}`);
      // What starts by itself may be off only after it has had its start.
      if (now === 'RerunOnFailure' || now === 'Once') {
        assert.ok(world.starts > 0, 'never started');
        assert.equal(world.machine.status?.runStrategy, now);
      }
      if (now === 'WaitAsReceiver')
        assert.equal(
          world.machine.status?.conditions?.find(({ type }) => type === 'Failure')?.reason,
          'MigrationTargetUnsupported',
        );
    }),
    { numRuns: 200 },
  );
});

it('after any history a deleted machine leaves nothing behind', () => {
  fc.assert(
    fc.property(fc.constantFrom(...runStrategies), history, (strategy, happenings) => {
      const world = new VmWorld(machineOf(strategy));
      for (const event of happenings) happen(world, event);
      world.deleteMachine();
      heal(world);
      assert.equal(world.outcome, 'gone');
    }),
    { numRuns: 100 },
  );
});
