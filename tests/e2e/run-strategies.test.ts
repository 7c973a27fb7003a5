import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import { runProgram } from '../program.ts';
import { findKubectl } from '../tools.ts';
import { at, eventually, Installation } from './installation.ts';
import { rows, strategies } from './run-strategy-table.ts';
import { StrategyMachine } from './strategy-machine.ts';
import { askGuest, importTinyImage, type TinyImage, tinyMachine } from './tiny-machines.ts';
import { WatchedMachines } from './watched-machines.ts';

const kubectl = await findKubectl();
const emulator = await runProgram('sh', ['-c', 'command -v qemu-system-x86_64']);
const missing = 'missing' in kubectl ? kubectl.missing : emulator.code === 0 ? false : 'there is no QEMU';

describe('run strategies of real machines', { skip: missing }, () => {
  let sheaf: Installation;
  let image: TinyImage;
  before(async () => {
    sheaf = await Installation.make('path' in kubectl ? kubectl.path : '');
  });
  after(() => sheaf.remove());

  it('do with each event what the table says, all at once', async () => {
    await sheaf.start();
    image = await importTinyImage(sheaf);
    const client = await sheaf.client();
    const watched = new WatchedMachines(client);
    const world = { sheaf, client, watched };
    const machines = rows.flatMap((row) =>
      strategies.map((strategy) => new StrategyMachine(world, { row, strategy })),
    );
    await sheaf.apply(
      ...machines.map(({ name, strategy }) => tinyMachine(image, { name, runStrategy: strategy })),
    );
    await Promise.all(machines.map((machine) => machine.bringUp()));
    await Promise.all(machines.map((machine) => machine.row.when(machine)));
    const wanted = Object.fromEntries(machines.map(({ name, row, strategy }) => [name, row.ends[strategy]]));
    const found = (): Record<string, string> =>
      Object.fromEntries(machines.map((machine) => [machine.name, machine.outcome()]));
    const differing = (): readonly string[] => {
      const now = found();
      return Object.keys(wanted).filter((name) => now[name] !== wanted[name]);
    };
    await eventually(
      async () => differing().length === 0,
      { goal: 'all machines end as they should' },
      () => JSON.stringify(differing().map((name) => `${name}: ${found()[name]}, not ${wanted[name]}`)),
    );
    const running = machines.filter(({ name }) => wanted[name]?.startsWith('running'));
    await Promise.all(running.map(async ({ name }) => askGuest(client, name)));
    // Whoever came to rest first had the most time to leave it again.
    assert.deepEqual(found(), wanted);
    assert.equal((await sheaf.processes()).length, running.length);
    await watched.stop();
  });

  it('tell of a guest that panicked in status and events', async () => {
    for (const strategy of ['once', 'manual']) {
      const name = `${strategy}-guest-panic`;
      const [machine, instance] = [await sheaf.find('vm', name), await sheaf.find('vmi', name)];
      assert.deepEqual(
        [at(machine, 'status', 'printableStatus'), at(machine, 'status', 'ready')],
        ['Stopped', false],
      );
      assert.equal(at(instance, 'status', 'phase'), 'Failed');
      assert.match(JSON.stringify(at(instance, 'status', 'conditions')), /the guest reported a panic/);
    }
    for (const strategy of ['always', 'rerunonfailure']) {
      const name = `${strategy}-guest-panic`;
      assert.match(await eventsOf(name), /Warning Stopped: The VirtualMachineInstance crashed\./);
      // It had run: the next start comes at once.
      assert.equal(at(await sheaf.find('vm', name), 'status', 'startFailure'), undefined);
    }
  });

  it('wait longer and longer with a machine that cannot be started, and start it once it is mended', async () => {
    const starting = ['Always', 'RerunOnFailure'];
    const nameOf = (strategy: string): string => `broken-${strategy.toLowerCase()}`;
    const broken = [...starting, 'Manual'].map((runStrategy) =>
      tinyMachine(image, { name: nameOf(runStrategy), runStrategy, model: 'no-such-model' }),
    );
    await sheaf.apply(...broken);
    const shows = (strategy: string, status: string): Promise<JsonObject | undefined> =>
      sheaf.until(
        ['vm', nameOf(strategy)],
        (machine) => at(machine, 'status', 'printableStatus') === status,
        { goal: `the machine of strategy ${strategy} is ${status}` },
      );
    for (const strategy of starting) {
      const machine = await shows(strategy, 'CrashLoopBackOff');
      assert.ok(Number(at(machine, 'status', 'startFailure', 'consecutiveFailCount')) >= 1);
      assert.match(await eventsOf(nameOf(strategy)), /no-such-model/);
    }
    assert.equal(at(await shows('Manual', 'Stopped'), 'status', 'startFailure'), undefined);
    const model = [{ op: 'remove', path: '/spec/template/spec/domain/cpu/model' }];
    for (const strategy of starting)
      await sheaf.kubectl(['patch', 'vm', nameOf(strategy), '--type=json', '-p', JSON.stringify(model)]);
    for (const strategy of starting)
      assert.equal(at(await shows(strategy, 'Running'), 'status', 'startFailure'), undefined);
  });

  /** Of the machine and its instances. */
  async function eventsOf(name: string): Promise<string> {
    const row = '{range .items[*]}{.type} {.reason}: {.message}{"\\n"}{end}';
    return sheaf.kubectl([
      'get',
      'events',
      '--field-selector',
      `involvedObject.name=${name}`,
      '-o',
      `jsonpath=${row}`,
    ]);
  }
});
