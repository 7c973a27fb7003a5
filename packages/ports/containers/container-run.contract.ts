import assert from 'node:assert/strict';
import type { ContainersScene } from './containers-scene.fixture.ts';

export async function runsContainerOnce(scene: ContainersScene): Promise<void> {
  const { containers, signal, world } = scene;
  const directory = await world.makeDirectory('counted');
  const mounts = [{ hostPath: directory, containerPath: '/counted' }];
  await scene.sandbox();
  const spec = await scene.spec('one', ['append /counted/runs once', 'print out', 'exit 3'], { mounts });
  const starts = await Promise.all([1, 2, 3].map(() => containers.startContainer(spec, signal)));
  assert.equal(new Set(starts.map(({ createdAt }) => createdAt)).size, 1);
  assert.deepEqual(await scene.endOf('one'), { cause: 'exited', exitCode: 3 });
  const ended = await scene.find('one');
  const { startedAt = 0, endedAt = 0, createdAt } = ended;
  assert.ok(createdAt <= startedAt && startedAt <= endedAt, JSON.stringify(ended));
  assert.deepEqual(ended.labels, { 'example.org/container': 'one' });
  assert.equal(ended.title, 'default/pod/one');
  assert.equal(ended.sandboxId, 'pod');
  assert.equal(ended.processId, undefined);
  assert.deepEqual(await containers.startContainer(spec, signal), ended);
  scene.reopen();
  assert.deepEqual(await scene.containers.startContainer(spec, signal), ended);
  assert.deepEqual(await scene.containers.listContainers(signal), [ended]);
  assert.equal(await world.readFile(`${directory}/runs`), 'once\n');
}

export async function refusesWhatIsAbsent(scene: ContainersScene): Promise<void> {
  const { containers, signal, world } = scene;
  const start = async (changes: Parameters<ContainersScene['spec']>[2]): Promise<unknown> =>
    await containers.startContainer(await scene.spec('one', ['stay'], changes), signal);
  await scene.refuses(start({}), 'NotFound', /no sandbox pod/);
  await scene.sandbox();
  const imageId = `sha256:${'0'.repeat(64)}`;
  await scene.refuses(start({ imageId }), 'NotFound', /no image .*pull/);
  const gone = `${await world.makeDirectory('there')}/gone`;
  const mounts = [{ hostPath: gone, containerPath: '/gone' }];
  await scene.refuses(start({ mounts }), 'BadRequest', /there is no .*gone/);
  assert.equal(await containers.findContainer('one', signal), undefined);
  await scene.refuses(start({ id: '../escape' }), 'BadRequest', /id of a/);
  await scene.refuses(
    containers.stopContainer('none', { graceMs: 0 }, signal),
    'NotFound',
    /no container none/,
  );
  const none = { command: ['/guest'], hasInput: false, hasTerminal: false };
  await scene.refuses(containers.execute('none', none, signal), 'NotFound', /no container none/);
  await scene.refuses(
    containers.attach('none', { hasInput: false }, signal),
    'NotFound',
    /no container none/,
  );
  await containers.removeContainer('none', signal);
  // What was refused may be called again, once what it needs is there.
  assert.equal(await scene.output('one', ['print now']), 'now\n');
}

export async function tellsStartFailure(scene: ContainersScene): Promise<void> {
  await scene.sandbox();
  const spec = await scene.spec('one', [], { entryPoint: ['/no/such/program'] });
  for (let time = 0; time < 2; time++) {
    const { state, end, startedAt } = await scene.containers.startContainer(spec, scene.signal);
    assert.equal(state, 'ended');
    assert.equal(startedAt, undefined);
    assert.ok(end?.cause === 'start-failed', JSON.stringify(end));
    assert.match(end.message, /no such file|not found/);
    scene.reopen();
  }
  assert.equal((await scene.findSandbox()).state, 'ready');
}

export async function stopsContainers(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  await scene.sandbox();
  await scene.start('polite', ['print ready', 'stay']);
  await scene.shows('polite', 'ready');
  await containers.stopContainer('polite', { graceMs: 60_000 }, signal);
  assert.deepEqual((await scene.find('polite')).end, { cause: 'exited', exitCode: 0 });
  await containers.stopContainer('polite', { graceMs: 60_000 }, signal);
  await scene.start('deaf', ['deaf', 'print ready', 'stay']);
  await scene.shows('deaf', 'ready');
  await scene.outcome(containers.stopContainer('deaf', { graceMs: 50 }, signal));
  assert.deepEqual((await scene.find('deaf')).end, { cause: 'exited', exitCode: 137 });
  await scene.start('shortened', ['deaf', 'print ready', 'stay']);
  await scene.shows('shortened', 'ready');
  const long = containers.stopContainer('shortened', { graceMs: 3_600_000 }, signal);
  await scene.world.pass(50);
  assert.equal((await scene.find('shortened')).state, 'running');
  await scene.outcome(containers.stopContainer('shortened', { graceMs: 0 }, signal));
  await long;
  assert.deepEqual((await scene.find('shortened')).end, { cause: 'exited', exitCode: 137 });
}

export async function tellsDeathFromOutside(scene: ContainersScene): Promise<void> {
  await scene.sandbox();
  const { processId = 0 } = await scene.start('one', ['stay']);
  await scene.world.kill(processId);
  assert.deepEqual(await scene.endOf('one'), { cause: 'exited', exitCode: 137 });
  assert.equal((await scene.findSandbox()).state, 'ready');
}

export async function tellsMemoryShortage(scene: ContainersScene): Promise<void> {
  const { limits } = await scene.containers.probe(scene.signal);
  if (!limits.isAvailable) return;
  await scene.sandbox();
  await scene.start('hog', ['hog'], { resources: { memoryLimitBytes: 32 * 1024 * 1024 } });
  assert.deepEqual(await scene.endOf('hog'), { cause: 'out-of-memory', exitCode: 137 });
}

export async function adoptsContainers(scene: ContainersScene): Promise<void> {
  const { signal } = scene;
  const sandbox = await scene.sandbox();
  const running = await scene.start('runs', ['print before', 'stay']);
  const { processId = 0 } = await scene.start('ends', ['stay']);
  await scene.shows('runs', 'before');
  scene.containers.dispose();
  await scene.world.kill(processId);
  scene.reopen();
  assert.deepEqual(await scene.containers.listSandboxes(signal), [sandbox]);
  assert.deepEqual(await scene.find('runs'), running);
  assert.deepEqual(await scene.endOf('ends'), { cause: 'exited', exitCode: 137 });
  assert.deepEqual(await scene.start('runs', ['print before', 'stay']), running);
  if (scene.has('streams')) {
    const inside = await scene.execute('runs', ['print inside']);
    await inside.ended;
    assert.equal(inside.output, 'inside\n');
  }
  assert.equal(await scene.log('runs'), 'before\n');
}

export async function tellsHostRestart(scene: ContainersScene): Promise<void> {
  const { world } = scene;
  const directory = await world.makeDirectory('restarts');
  const mounts = [{ hostPath: directory, containerPath: '/restarts' }];
  await scene.sandbox();
  await scene.output('before', ['exit 4']);
  const steps = ['append /restarts/runs once', 'print ready', 'stay'];
  await scene.start('one', steps, { mounts });
  await scene.shows('one', 'ready');
  await scene.restartHost();
  assert.equal((await scene.findSandbox()).state, 'ended');
  assert.deepEqual((await scene.find('before')).end, { cause: 'exited', exitCode: 4 });
  assert.equal((await scene.find('one')).end?.cause, 'lost');
  assert.equal((await scene.start('one', steps, { mounts })).end?.cause, 'lost');
  assert.equal((await scene.containers.startSandbox(scene.sandboxSpec('pod'), scene.signal)).state, 'ended');
  assert.equal(await world.readFile(`${directory}/runs`), 'once\n');
  assert.equal(await scene.log('one'), 'ready\n');
  await scene.sandbox('next');
  assert.equal(await scene.output('again', ['print again'], { sandboxId: 'next' }), 'again\n');
}

export async function runsMany(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  const pods = ['pod-0', 'pod-1', 'pod-2'];
  await Promise.all(pods.map((pod) => scene.sandbox(pod)));
  const ids = Array.from({ length: 9 }, (_, index) => `many-${index}`);
  await Promise.all(ids.map((id, index) => scene.start(id, ['stay'], { sandboxId: `pod-${index % 3}` })));
  const seen = await containers.listContainers(signal);
  assert.deepEqual(
    seen.map(({ id, state }) => [id, state]),
    ids.map((id) => [id, 'running']),
  );
  assert.equal(new Set(seen.map(({ processId }) => processId)).size, ids.length);
  await Promise.all(pods.map((pod) => scene.remove(pod)));
  assert.deepEqual(await containers.listContainers(signal), []);
}

export async function endsWaiting(scene: ContainersScene): Promise<void> {
  const { containers } = scene;
  await scene.sandbox();
  await scene.start('one', ['deaf', 'print ready', 'stay']);
  await scene.shows('one', 'ready');
  const reason = new Error('enough');
  const controller = new AbortController();
  const stopped = containers.stopContainer('one', { graceMs: 3_600_000 }, controller.signal);
  await scene.world.pass(20);
  controller.abort(reason);
  await assert.rejects(stopped, reason);
  await assert.rejects(containers.findContainer('one', controller.signal), reason);
  assert.equal((await scene.find('one')).state, 'running');
}

export async function tellsUsage(scene: ContainersScene): Promise<void> {
  const { limits } = await scene.containers.probe(scene.signal);
  if (!limits.isAvailable) return;
  await scene.sandbox();
  await scene.start('one', ['stay']);
  await scene.output('ended', ['print done']);
  const usage = await scene.containers.readUsage(scene.signal);
  assert.deepEqual(
    usage.map(({ containerId, sandboxId }) => ({ containerId, sandboxId })),
    [{ containerId: 'one', sandboxId: 'pod' }],
  );
  for (const { cpuNanoseconds, memoryBytes, workingSetBytes, processCount } of usage) {
    assert.ok(cpuNanoseconds > 0);
    assert.ok(workingSetBytes > 0 && workingSetBytes <= memoryBytes);
    assert.ok(processCount >= 1);
  }
}
