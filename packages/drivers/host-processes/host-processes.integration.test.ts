import assert from 'node:assert/strict';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { testContainers } from '@sheaf/ports/containers/containers.contract';
import { ContainersScene } from '@sheaf/ports/containers/containers-scene.fixture';
import { isAlive } from '../qemu/process-identity.ts';
import { HostProcesses } from './host-processes.ts';
import { HostProcessWorld, hostLacks } from './host-world.fixture.ts';
import { readClaim } from './run-files.ts';
import { processesOfRun } from './run-processes.ts';
import { withoutRights } from './without-rights.ts';

async function withWorld(use: (world: HostProcessWorld) => Promise<void>): Promise<void> {
  const world = await HostProcessWorld.make();
  try {
    await use(world);
  } finally {
    await world.dispose();
  }
}

testContainers({ driver: 'host processes', without: hostLacks, withWorld });

describe('programs of the host', () => {
  const check = (
    name: string,
    use: (scene: ContainersScene, world: HostProcessWorld) => Promise<void>,
  ): void => {
    test(name, () => withWorld((world) => use(new ContainersScene(world), world)));
  };

  check('gives a program what is listed and mounted, and nothing of this process', async (scene) => {
    const { world } = scene;
    const directory = await world.makeDirectory('data');
    await world.writeFile(`${directory}/file`, 'from the host\n');
    await scene.sandbox();
    const changes = {
      environment: { GREETING: 'hello', LD_PRELOAD: '/evil', NODE_OPTIONS: '--evil' },
      mounts: [{ hostPath: directory, containerPath: '/data' }],
    };
    const steps = ['variable GREETING', 'variable LD_PRELOAD', 'variable NODE_OPTIONS', 'show /data/file'];
    assert.equal(await scene.output('one', steps, changes), 'hello\n\n\nfrom the host\n');
  });

  check('gives a program none of the rights of the administrator', async (scene) => {
    await scene.sandbox();
    const mounts = [{ hostPath: '/proc', containerPath: '/proc' }];
    const status = await scene.output('one', ['show /proc/self/status'], { mounts });
    if (process.getuid?.() === 0 && withoutRights(['/bin/sh']).length > 0)
      assert.match(status, /^CapEff:\s*0+$/m);
  });

  check('runs no other program than its own', async (scene) => {
    await scene.sandbox();
    const entryPoint = ['/bin/sh', '-c', 'true'];
    await scene.refuses(scene.start('one', [], { entryPoint }), 'BadRequest', /leave command out/);
    await scene.refuses(scene.start('one', [], { hasInput: true }), 'BadRequest', /leave stdin and tty out/);
    const network = { kind: 'pod', hostPorts: [] } as const;
    await scene.refuses(scene.sandbox('apart', { network }), 'BadRequest', /set hostNetwork/);
    assert.equal(await scene.containers.findContainer('one', scene.signal), undefined);
  });

  check('tells a program that cannot be started, and one that is missing', async (scene, world) => {
    const [guest] = world.programs;
    assert.ok(guest);
    world.programs = [{ ...guest, command: ['/no/such/program'] }];
    scene.reopen();
    await scene.sandbox();
    const { end } = await scene.start('one', []);
    assert.ok(end?.cause === 'start-failed' && /ENOENT/.test(end.message), JSON.stringify(end));
    const problem = { reason: 'it is not installed', wayOut: 'install it' };
    world.programs = [{ ...guest, problem: () => problem }];
    scene.reopen();
    const { containers } = await scene.containers.probe(scene.signal);
    assert.deepEqual(containers, { isAvailable: false, ...problem });
    const spec = {
      ...(await scene.spec('two', [])),
      imageId: (await scene.images.list(scene.signal))[0]?.id ?? '',
    };
    const refused = scene.containers.startContainer(spec, scene.signal);
    await scene.refuses(refused, 'ServiceUnavailable', /not installed; install it/);
  });

  check('leaves nothing of what was half taken away when its process was killed', async (scene, world) => {
    await scene.sandbox();
    await scene.output('one', ['print done']);
    const { files } = world;
    for (const record of [join(files.run('one'), 'order'), join(files.sandbox('pod'), 'spec')])
      await rm(record);
    await mkdir(`${files.run('two')}~1-1`);
    scene.reopen();
    assert.deepEqual(await scene.containers.listSandboxes(scene.signal), []);
    for (const part of ['runs', 'sandboxes'])
      assert.deepEqual(await readdir(join(files.directory, part)), []);
  });

  check('leaves no process of a run that nobody watches over any more', async (scene, world) => {
    await scene.sandbox();
    await scene.start('one', ['print ready', 'stay']);
    await scene.shows('one', 'ready');
    const claim = await readClaim(world.files.run('one'));
    assert.ok(claim);
    process.kill(claim.pid, 'SIGKILL');
    assert.deepEqual(await scene.endOf('one'), { cause: 'lost', message: 'what watched over it was killed' });
    assert.deepEqual(processesOfRun(world.files.run('one'), undefined), []);
    assert.equal((await scene.start('one', ['stay'])).state, 'ended');
  });

  check('ends what cannot succeed any more with its reason, and begins it no more', async (scene, world) => {
    const [guest] = world.programs;
    assert.ok(guest);
    const moveTo = (place: string): void => {
      const whyInVain = ({ PLACE = '' }: Readonly<Record<string, string>>): string | undefined =>
        PLACE === place ? undefined : `it is at ${place} now, and was at ${PLACE}`;
      world.programs = [{ ...guest, environment: { ...guest.environment, PLACE: place }, whyInVain }];
      scene.reopen();
    };
    moveTo('home');
    await scene.sandbox();
    await scene.start('one', ['print ready', 'stay']);
    await scene.shows('one', 'ready');
    const spec = await scene.spec('two', ['print ran']);
    await new HostProcesses(world.options()).makeRun(spec);
    const claim = await readClaim(world.files.run('one'));
    assert.ok(claim);
    moveTo('sea');
    const end = { cause: 'lost', message: 'it is at sea now, and was at home' };
    // However many look at once, and whoever was about to begin.
    const ids = ['one', 'two', 'one', 'two', 'one'];
    const seen = await Promise.all(ids.map((id) => scene.containers.findContainer(id, scene.signal)));
    assert.deepEqual(
      seen.map((run) => run?.end),
      ids.map(() => end),
    );
    assert.equal(isAlive(claim, claim.bootId), false);
    assert.deepEqual(processesOfRun(world.files.run('one'), undefined), []);
    assert.deepEqual((await scene.containers.startContainer(spec, scene.signal)).end, end);
    assert.equal(await scene.log('two'), '');
    assert.equal(await scene.output('three', ['variable PLACE']), 'sea\n');
  });

  check('runs on whoever is killed, and is begun once by whoever comes', async (scene, world) => {
    const { signal } = scene;
    const directory = await world.makeDirectory('counted');
    const mounts = [{ hostPath: directory, containerPath: '/counted' }];
    await scene.sandbox();
    const spec = await scene.spec('one', ['append /counted/runs once', 'stay'], { mounts });
    const others = [world.open(), world.open()];
    const seen = await Promise.all(
      [scene.containers, ...others.map(({ containers }) => containers)].map((containers) =>
        containers.startContainer(spec, signal),
      ),
    );
    assert.equal(new Set(seen.map(({ processId }) => processId)).size, 1);
    for (const { containers } of others) containers.dispose();
    await scene.containers.stopContainer('one', { graceMs: 0 }, signal);
    assert.equal(await world.readFile(`${directory}/runs`), 'once\n');
  });
});
