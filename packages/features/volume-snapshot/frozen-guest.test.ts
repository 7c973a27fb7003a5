import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VolumeSnapshotContent } from '@sheaf/api/virtualization/index';
import type { MachineObservation } from '@sheaf/ports';
import { allTasks, SeededRandom, TestClock } from '@sheaf/testkit';
import { SimulatedHost, SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';
import { mayFreezeFor, withFrozenMachine } from './consistency-notes.ts';
import { type Consistency, Freezes, thawLeftover, whileFrozen } from './frozen-guest.ts';

const signal = new AbortController().signal;

/** A guest with an agent that freezes, as long as nothing is in its way. */
class Guest {
  readonly clock = new TestClock();
  readonly host = new SimulatedHost({ clock: this.clock, random: new SeededRandom(1) });
  readonly hypervisor = new SimulatedHypervisor(this.host);
  readonly parts = { hypervisor: this.hypervisor, clock: this.clock, freezes: new Freezes() };
  readonly done: string[] = [];
  isFrozen = false;
  refuses: string | undefined;
  isHalfFrozenByRefusal = false;

  async start(): Promise<MachineObservation> {
    await this.hypervisor.start(
      {
        id: 'one',
        title: 'default/one',
        machineType: 'q35',
        cpu: { sockets: 1, cores: 1, threads: 1 },
        memory: { bytes: 2 ** 27 },
        firmware: { kind: 'bios' },
        identity: { uuid: '00000000-0000-4000-8000-000000000000' },
        disks: [],
        nics: [],
        hasGraphics: false,
        hasSerialConsole: false,
        hasAgentChannel: true,
        hasRandomSource: false,
        hasBalloon: false,
      },
      signal,
    );
    await this.hypervisor.resume('one', signal);
    this.host.setAgent('one', ({ execute }) => this.#answer(execute));
    return this.find();
  }

  async find(): Promise<MachineObservation> {
    const found = await this.hypervisor.find('one', signal);
    assert.ok(found);
    return found;
  }

  async take(
    options: {
      readonly act?: () => Promise<void>;
      readonly mayFreeze?: boolean;
      readonly isLeftFrozen?: boolean;
    } = {},
  ): Promise<Consistency> {
    const act = async (): Promise<void> => {
      this.done.push(this.isFrozen ? 'act frozen' : 'act');
      await options.act?.();
    };
    const mark = (): Promise<void> => Promise.resolve(void this.done.push('mark'));
    const { mayFreeze = true, isLeftFrozen = false } = options;
    const machine = await this.find();
    return await whileFrozen(this.parts, { machine, act, mark, mayFreeze, isLeftFrozen }, signal);
  }

  #answer(execute: string): unknown {
    if (execute === 'guest-fsfreeze-status') return this.isFrozen ? 'frozen' : 'thawed';
    this.done.push(execute.replace('guest-fsfreeze-', ''));
    if (execute === this.refuses) {
      this.isFrozen ||= this.isHalfFrozenByRefusal;
      throw new Error('refused');
    }
    const count = this.isFrozen === (execute === 'guest-fsfreeze-freeze') ? 0 : 2;
    this.isFrozen = execute === 'guest-fsfreeze-freeze';
    return count;
  }
}

async function guest(): Promise<Guest> {
  const made = new Guest();
  await made.start();
  return made;
}

describe('whileFrozen', () => {
  it('writes down what it is about to do, freezes, acts, thaws', async () => {
    const one = await guest();
    assert.equal((await one.take()).level, 'filesystem');
    assert.deepEqual(one.done, ['mark', 'freeze', 'act frozen', 'thaw']);
    assert.equal(one.parts.freezes.has('one'), false);
  });

  it('acts without where the guest does not freeze, and thaws what it has frozen by then', async () => {
    const one = await guest();
    one.refuses = 'guest-fsfreeze-freeze';
    one.isHalfFrozenByRefusal = true;
    const { level, reason } = await one.take();
    assert.equal(level, 'crash');
    assert.match(reason, /could not be frozen: .*refused/);
    assert.deepEqual(one.done, ['mark', 'freeze', 'thaw', 'act']);
    one.host.setAgent('one', undefined);
    one.done.length = 0;
    assert.match((await one.take()).reason, /no guest agent listens/);
    assert.deepEqual(one.done, ['act']);
  });

  it('does not try for ever', async () => {
    const one = await guest();
    const content = {
      metadata: { name: 'c' },
      spec: { deletionPolicy: 'Delete', driver: 'd', source: {}, volumeSnapshotRef: {} },
    } as const;
    const tried = [1, 2, 3].reduce<VolumeSnapshotContent>((each) => withFrozenMachine(each, 'one'), content);
    assert.deepEqual([mayFreezeFor(withFrozenMachine(content, 'one')), mayFreezeFor(tried)], [true, false]);
    assert.equal((await one.take({ mayFreeze: false })).level, 'crash');
    assert.deepEqual(one.done, ['act']);
  });

  it('thaws when what is done fails', async () => {
    const one = await guest();
    await assert.rejects(one.take({ act: () => Promise.reject(new Error('no room')) }), /no room/);
    assert.equal(one.isFrozen, false);
  });

  it('thaws in time, however long what is done takes, and says that it was not consistent', async () => {
    const one = await guest();
    const hold = Promise.withResolvers<void>();
    const taking = one.take({ act: () => hold.promise });
    await allTasks();
    assert.equal(one.isFrozen, true);
    one.clock.advance(10_000);
    await allTasks();
    assert.equal(one.isFrozen, false);
    hold.resolve();
    assert.equal((await taking).level, 'crash');
  });

  it('leaves the freeze of somebody else alone, and ends one that it has left itself', async () => {
    const one = await guest();
    one.isFrozen = true;
    assert.equal((await one.take()).level, 'filesystem');
    assert.deepEqual([one.done, one.isFrozen], [['act frozen'], true]);
    one.done.length = 0;
    assert.equal((await one.take({ isLeftFrozen: true })).level, 'filesystem');
    assert.deepEqual(one.done, ['thaw', 'mark', 'freeze', 'act frozen', 'thaw']);
  });

  it('is told when the thaw fails, so that it is tried again', async () => {
    const one = await guest();
    one.refuses = 'guest-fsfreeze-thaw';
    await assert.rejects(one.take(), /refused/);
    assert.deepEqual([one.isFrozen, one.parts.freezes.has('one')], [true, true]);
    await assert.rejects(thawLeftover(one.parts, await one.find(), signal), /refused/);
    one.refuses = undefined;
    assert.equal((await thawLeftover(one.parts, await one.find(), signal)).level, 'filesystem');
    assert.deepEqual([one.isFrozen, one.parts.freezes.has('one')], [false, false]);
    assert.equal((await thawLeftover(one.parts, await one.find(), signal)).level, 'crash');
    assert.equal((await thawLeftover(one.parts, undefined, signal)).level, 'crash');
  });
});

it('freezes of one machine come one after the other, also after one that failed', async () => {
  const freezes = new Freezes();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = freezes.inTurn('a', () => first.promise.finally(() => order.push('one')));
  const two = freezes.inTurn('a', () => Promise.resolve(void order.push('two')));
  await freezes.inTurn('b', () => Promise.resolve(void order.push('other machine')));
  first.reject(new Error('failed'));
  await assert.rejects(one, /failed/);
  await two;
  assert.deepEqual(order, ['other machine', 'one', 'two']);
});
