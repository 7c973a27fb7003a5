import assert from 'node:assert/strict';
import { type Scene } from './hypervisor-scene.fixture.ts';
import type { DiskFile, MachineDisk } from './machine-devices.ts';

export async function tellsGuestEnds(scene: Scene): Promise<void> {
  const first = await scene.run('quits');
  await first.type('Q');
  assert.deepEqual(await scene.endOf('quits'), { cause: 'guest-shutdown' });
  const second = await scene.run('panics');
  await second.type('P');
  assert.equal((await scene.endOf('panics'))?.cause, 'guest-panicked');
  assert.equal(await scene.world.processCount('quits'), 0);
  assert.equal(await scene.world.processCount('panics'), 0);
  // An end is an end: the same run does not begin again.
  assert.equal((await scene.start('quits')).state, 'ended');
}

export async function pressesPowerButton(scene: Scene): Promise<void> {
  await scene.run('listens');
  await scene.hypervisor.pressPowerButton('listens', scene.signal);
  assert.deepEqual(await scene.endOf('listens'), { cause: 'guest-shutdown' });
  const deaf = await scene.run('deaf');
  await deaf.type('D');
  await deaf.shows('deaf\n');
  await scene.hypervisor.pressPowerButton('deaf', scene.signal);
  await deaf.type('still here');
  await deaf.shows('still here');
  await scene.hypervisor.end('deaf', scene.signal);
  assert.deepEqual(await scene.endOf('deaf'), { cause: 'stopped' });
}

export async function countsResets(scene: Scene): Promise<void> {
  const console = await scene.run('resets');
  await console.type('R');
  await console.shows('boot 2\n');
  await scene.when('resets', ({ guestResets }) => guestResets === 1);
  await scene.hypervisor.reset('resets', scene.signal);
  await console.shows('boot 3\n');
  await console.type('R');
  await console.shows('boot 4\n');
  await scene.when('resets', ({ guestResets }) => guestResets === 2);
}

export async function tellsDeath(scene: Scene): Promise<void> {
  await scene.run('one');
  await scene.world.kill(await scene.processOf('one'));
  assert.equal((await scene.endOf('one'))?.cause, 'process-died');
  await scene.refuses(scene.hypervisor.resume('one', scene.signal), 'Conflict', /does not run/);
}

export async function keepsCause(scene: Scene): Promise<void> {
  const console = await scene.run('one');
  await console.type('Q');
  await scene.when('one', ({ state }) => state === 'ended');
  await scene.hypervisor.end('one', scene.signal);
  await scene.hypervisor.end('one', scene.signal);
  assert.deepEqual(await scene.endOf('one'), { cause: 'guest-shutdown' });
  await scene.run('two');
  await scene.hypervisor.end('two', scene.signal);
  await scene.hypervisor.end('two', scene.signal);
  assert.equal((await scene.find('two')).processId, undefined);
  assert.deepEqual(await scene.endOf('two'), { cause: 'stopped' });
}

export async function tellsStartFailure(scene: Scene): Promise<void> {
  const file: DiskFile = { path: '/nowhere/absent.qcow2', format: 'qcow2' };
  const disk: MachineDisk = { name: 'root', device: 'disk', bus: 'virtio', file };
  const seen = await scene.start('one', { disks: [disk] });
  assert.equal(seen.state, 'ended');
  assert.ok(seen.end?.cause === 'start-failed');
  assert.match(seen.end.message, /absent\.qcow2/);
  assert.deepEqual(await scene.find('one'), seen);
  scene.reopen();
  assert.deepEqual(await scene.find('one'), seen);
}

export async function tellsUnwatchedEnds(scene: Scene): Promise<void> {
  for (const id of ['quits', 'panics', 'dies', 'runs']) await scene.run(id);
  const dies = await scene.processOf('dies');
  const lived = await scene.processOf('runs');
  scene.hypervisor.dispose();
  await scene.world.type('quits', 'Q');
  await scene.world.type('panics', 'P');
  await scene.world.kill(dies);
  await scene.world.pass(200);
  scene.hypervisor = scene.world.open();
  const seen = await scene.hypervisor.list(scene.signal);
  assert.deepEqual(Object.fromEntries(seen.map(({ id, end, state }) => [id, end?.cause ?? state])), {
    quits: 'guest-shutdown',
    panics: 'guest-panicked',
    dies: 'process-died',
    runs: 'running',
  });
  assert.equal(await scene.processOf('runs'), lived);
}

export async function tellsHostRestart(scene: Scene): Promise<void> {
  await scene.run('runs');
  const console = await scene.run('quits');
  await console.type('Q');
  await scene.endOf('quits');
  await scene.world.restartHost();
  scene.hypervisor = scene.world.open();
  assert.deepEqual(await scene.endOf('runs'), { cause: 'host-restarted' });
  assert.deepEqual(await scene.endOf('quits'), { cause: 'guest-shutdown' });
}
