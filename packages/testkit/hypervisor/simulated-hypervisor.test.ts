import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Hypervisor, MachineObservation, MachineSpec } from '@sheaf/ports';
import { testHypervisor } from '@sheaf/ports/hypervisor/hypervisor.contract';
import { allTasks } from '../settle.ts';
import { SimulatedWorld } from './simulated-world.fixture.ts';

testHypervisor({ driver: 'simulated', withWorld: (use) => use(new SimulatedWorld()) });

const { signal } = new AbortController();

const spec: MachineSpec = {
  id: 'one',
  title: 'default/one',
  machineType: 'q35',
  cpu: { sockets: 1, cores: 1, threads: 1 },
  memory: { bytes: 64 * 1024 * 1024 },
  firmware: { kind: 'bios' },
  identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' },
  disks: [],
  nics: [],
  hasGraphics: false,
  hasSerialConsole: true,
  hasAgentChannel: true,
  hasRandomSource: true,
  hasBalloon: true,
};

async function running(): Promise<{ world: SimulatedWorld; hypervisor: Hypervisor }> {
  const world = new SimulatedWorld();
  const hypervisor = world.open();
  await hypervisor.start(spec, signal);
  await hypervisor.resume('one', signal);
  return { world, hypervisor };
}

async function found(hypervisor: Hypervisor): Promise<MachineObservation | undefined> {
  return await hypervisor.find('one', signal);
}

describe('what can happen on a simulated host', () => {
  it('guests end by themselves', async () => {
    const first = await running();
    first.world.host.shutDownGuest('one');
    assert.deepEqual((await found(first.hypervisor))?.end, { cause: 'guest-shutdown' });
    const second = await running();
    second.world.host.panicGuest('one', 'out of memory');
    assert.deepEqual((await found(second.hypervisor))?.end, {
      cause: 'guest-panicked',
      message: 'out of memory',
    });
  });

  it('an agent begins to listen, answers, refuses, and stops', async () => {
    const { world, hypervisor } = await running();
    world.host.setAgent('one', ({ execute }) => {
      if (execute !== 'guest-ping') throw new Error(`no command ${execute}`);
      return {};
    });
    assert.equal((await found(hypervisor))?.isAgentConnected, true);
    assert.deepEqual(await hypervisor.askAgent('one', { execute: 'guest-ping' }, signal), {});
    await assert.rejects(hypervisor.askAgent('one', { execute: 'x' }, signal), /no command x/);
    world.host.setAgent('one', undefined);
    assert.equal((await found(hypervisor))?.isAgentConnected, false);
  });

  it('a start takes its time, or fails with the words of the program', async () => {
    const world = new SimulatedWorld();
    const hypervisor = world.open();
    world.host.faults.startMs = 1000;
    const started = hypervisor.start(spec, signal);
    await allTasks();
    assert.equal((await found(hypervisor))?.state, 'starting');
    await world.pass(1000);
    assert.equal((await started).state, 'paused');
    world.host.faults.startFailure = ({ id }) => (id === 'two' ? 'no memory' : undefined);
    const failed = await hypervisor.start({ ...spec, id: 'two' }, signal);
    assert.deepEqual(failed.end, { cause: 'start-failed', message: 'no memory' });
  });

  it('a machine that does not answer holds a call up for the set time only', async () => {
    const { world, hypervisor } = await running();
    world.host.faults.answerMs = 500;
    world.host.freezeProcess('one');
    let refused: unknown;
    const paused = hypervisor.pause('one', signal).catch((error: unknown) => {
      refused = error;
    });
    await world.pass(499);
    assert.equal(refused, undefined);
    await world.pass(1);
    await paused;
    assert.match(String(refused), /does not answer/);
  });

  it('a driver that dies between any two steps of a start leaves one process or none', async () => {
    const steps: string[] = [];
    const whole = new SimulatedWorld();
    whole.host.faults.onStep = (step) => steps.push(step);
    await whole.open().start(spec, signal);
    assert.ok(steps.length >= 4);
    for (const fatal of steps.keys()) {
      const world = new SimulatedWorld();
      const hypervisor = world.open();
      let passed = 0;
      world.host.faults.onStep = () => {
        if (passed++ === fatal) hypervisor.dispose();
      };
      await assert.rejects(hypervisor.start(spec, signal), /disposed/);
      const next = world.open();
      assert.equal((await next.start(spec, signal)).state, 'paused', `died at ${steps[fatal]}`);
      assert.equal(await world.processCount('one'), 1);
    }
  });

  it('calls overtake each other as the seed decides', async () => {
    const orderOf = async (seed: number): Promise<string> => {
      const world = new SimulatedWorld(seed);
      const hypervisor = world.open();
      world.host.faults.longestStepMs = 100;
      const order: string[] = [];
      const starts = ['a', 'b', 'c', 'd'].map(async (id) => {
        await hypervisor.start({ ...spec, id }, signal);
        order.push(id);
      });
      for (let passed = 0; passed < 500; passed += 5) await world.pass(5);
      await Promise.all(starts);
      return order.join('');
    };
    const orders = [];
    for (const seed of [1, 2, 3, 4]) orders.push(await orderOf(seed));
    assert.ok(new Set(orders).size > 1, orders.join(' '));
    assert.equal(await orderOf(1), orders[0]);
  });

  it('an end that was cut off is gone on with', async () => {
    const { world, hypervisor } = await running();
    world.host.faults.onStep = (step) => {
      if (step === 'end-recorded') hypervisor.dispose();
    };
    await assert.rejects(hypervisor.end('one', signal), /disposed/);
    assert.equal(await world.processCount('one'), 1);
    assert.deepEqual((await found(world.open()))?.end, { cause: 'stopped' });
    assert.equal(await world.processCount('one'), 0);
  });
});
