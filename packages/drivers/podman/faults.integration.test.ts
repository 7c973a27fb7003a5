import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ContainerSpec } from '@sheaf/ports';
import { ContainersScene, Printed } from '@sheaf/ports/containers/containers-scene.fixture';
import { natRules } from './network-traces.ts';
import { PodmanWorld, podmanIsMissing } from './podman-world.fixture.ts';
import { openPodman } from './register.ts';

const program = fileURLToPath(new URL('./control-process.fixture.ts', import.meta.url));

describe('podman and faults', { skip: podmanIsMissing ?? false }, () => {
  let made: Promise<PodmanWorld> | undefined;
  after(async () => {
    await (await made)?.dispose();
  });

  async function withScene(
    use: (scene: ContainersScene, world: PodmanWorld) => Promise<void>,
  ): Promise<void> {
    made ??= PodmanWorld.make({
      limits: { heartbeatMs: 200, answerMs: 3000, logBytes: 20_000, logParts: 20 },
    });
    const world = await made;
    try {
      await use(new ContainersScene(world), world);
    } finally {
      await world.clear();
    }
  }

  it('goes on when its service is killed, and containers do not notice', () =>
    withScene(async (scene, world) => {
      await scene.sandbox();
      const running = await scene.start('one', ['stay']);
      for (let time = 0; time < 3; time++) {
        const before = world.servicePid();
        process.kill(before, 'SIGKILL');
        assert.deepEqual(await scene.find('one'), running);
        assert.notEqual(world.servicePid(), before);
      }
      assert.equal(await scene.output('two', ['print two']), 'two\n');
    }));

  it('ends a service that hangs, and goes on with another', () =>
    withScene(async (scene, world) => {
      await scene.sandbox();
      const running = await scene.start('one', ['stay']);
      scene.containers.dispose();
      // So that the driver itself is just looking when the service hangs.
      const { containers } = openPodman({ ...world.options(), limits: { heartbeatMs: 1, answerMs: 3000 } });
      try {
        assert.deepEqual(await containers.findContainer('one', scene.signal), running);
        const hung = world.servicePid();
        process.kill(hung, 'SIGSTOP');
        assert.deepEqual(await containers.findContainer('one', scene.signal), running);
        assert.notEqual(world.servicePid(), hung);
        assert.deepEqual(world.processes(/system service/), [world.servicePid()]);
      } finally {
        containers.dispose();
      }
    }));

  it('tells a container whose watcher was killed, and leaves no process of it', () =>
    withScene(async (scene, world) => {
      await scene.sandbox();
      const { processId = 0 } = await scene.start('one', ['stay']);
      const [watcher = 0] = world.processes(/conmon .*-n container-one /);
      process.kill(watcher, 'SIGKILL');
      assert.equal((await scene.endOf('one'))?.cause, 'lost');
      assert.equal((await scene.start('one', ['stay'])).end?.cause, 'lost');
      await scene.containers.removeContainer('one', scene.signal);
      await scene.until(() => !isRunning(processId));
      assert.equal((await scene.findSandbox()).state, 'ready');
    }));

  it('keeps how a container ended when the host restarts before the engine has tidied up behind it', () =>
    withScene(async (scene, world) => {
      await scene.sandbox();
      const { processId = 0 } = await scene.start('one', ['stay']);
      await endHalfway(world, 'container-one', processId);
      assert.deepEqual(await scene.endOf('one'), { cause: 'exited', exitCode: 7 });
      const { endedAt } = await scene.find('one');
      await scene.restartHost();
      for (let time = 0; time < 2; time++) {
        const { end, endedAt: endedAtAfter } = await scene.start('one', ['stay']);
        assert.deepEqual(
          { end, endedAtAfter },
          { end: { cause: 'exited', exitCode: 7 }, endedAtAfter: endedAt },
        );
        scene.reopen();
      }
    }));

  it('ends and removes a sandbox behind which nobody has tidied up', () =>
    withScene(async (scene, world) => {
      const traces = await world.traces();
      await scene.sandbox();
      const { processId = 0 } = await scene.start('one', ['stay']);
      const pause = await pauseOf(world);
      const watchers = [
        await endHalfway(world, 'container-one', processId),
        await endHalfway(world, 'sandbox-pod', pause),
      ];
      assert.deepEqual(await scene.endOf('one'), { cause: 'exited', exitCode: 7 });
      await scene.remove();
      for (const watcher of watchers) process.kill(watcher, 'SIGKILL');
      await scene.until(async () => (await world.traces()).length === traces.length);
    }));

  it('keeps a sandbox ended whose namespaces were lost', () =>
    withScene(async (scene, world) => {
      const traces = await world.traces();
      await scene.sandbox();
      const { processId = 0 } = await scene.start('one', ['stay']);
      const pause = await pauseOf(world);
      process.kill(pause, 'SIGKILL');
      await scene.until(async () => (await scene.findSandbox()).state === 'ended');
      const late = scene.start('late', ['stay']);
      await scene.refuses(late, 'Conflict', /has ended/);
      assert.equal((await scene.find('one')).state, 'running');
      await scene.remove();
      assert.equal(isRunning(processId), false);
      await scene.until(async () => (await world.traces()).length === traces.length);
    }));

  it('leads host ports into sandboxes, one at a time', () =>
    withScene(async (scene) => {
      const hostPort = await freePort();
      const network = {
        kind: 'pod',
        hostPorts: [{ protocol: 'tcp', hostPort, containerPort: 8080 }],
      } as const;
      const { addresses } = await scene.sandbox('pod', { network });
      await scene.start('server', [], { entryPoint: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'] });
      await scene.until(async () => (await fetched(`http://127.0.0.1:${hostPort}/`)) === 'it works\n');
      assert.equal(await fetched(`http://${addresses[0]}:8080/`), 'it works\n');
      const second = scene.containers.startSandbox(scene.sandboxSpec('second', { network }), scene.signal);
      await scene.refuses(second, 'Conflict', /in use/);
      assert.equal(await scene.containers.findSandbox('second', scene.signal), undefined);
      await scene.remove();
      assert.deepEqual(
        (await natRules()).filter((rule) => rule.includes(` ${hostPort} `)),
        [],
      );
      await scene.sandbox('second', { network });
    }));

  it('puts long logs aside without the loss of a line, also while they are read', () =>
    withScene(async (scene, world) => {
      await scene.sandbox();
      await scene.start('one', ['echo', 'print end'], { hasInput: true });
      let seen = '';
      const following = (async () => {
        const lines = scene.containers.readLog('one', { isFollowed: true }, scene.signal);
        for await (const { content, isPart } of lines)
          seen += `${Buffer.from(content).toString()}${isPart ? '' : '\n'}`;
      })();
      const attached = new Printed(await scene.containers.attach('one', { hasInput: true }, scene.signal));
      const directory = join(world.layout.logs, 'pod', 'container-one');
      const parts = async (): Promise<number> => (await readdir(directory)).length;
      const written: string[] = [];
      for (let part = 1; part <= 3; part++) {
        for (let line = 0; line < 300; line++) {
          const text = `${written.length} `.padEnd(100, 'x');
          written.push(text);
          await attached.type(`${text}\n`);
        }
        await scene.until(async () => (await parts()) > part);
      }
      const all = `${written.join('\n')}\n`;
      await scene.until(() => seen.length >= all.length);
      await scene.containers.stopContainer('one', { graceMs: 0 }, scene.signal);
      await following;
      attached.process.dispose();
      await attached.ended;
      assert.equal(seen, all);
      assert.equal(await scene.log('one'), all);
      // Parts of lines count as lines.
      const tail = await scene.log('one', { tailLines: 350 });
      assert.ok(
        all.endsWith(tail) &&
          tail.includes(`
${written.at(-300)}
`),
      );
    }));

  it('ends what an earlier life has executed, and nothing else', () =>
    withScene(async (scene, world) => {
      await scene.sandbox();
      await scene.start('one', ['stay']);
      const command = ['/bin/sh', '-c', 'echo up; trap "" HUP; exec sleep 54321'];
      for (const hasTerminal of [true, false]) {
        const order = { command, hasInput: true, hasTerminal };
        const begun = new Printed(await scene.containers.execute('one', order, scene.signal));
        begun.ended.catch(() => undefined);
        await scene.until(() => begun.output.includes('up'));
      }
      await world.kill(world.servicePid());
      scene.reopen();
      await scene.until(async () => {
        const order = { command: ['/bin/ps'], hasInput: false, hasTerminal: false };
        const listed = new Printed(await scene.containers.execute('one', order, scene.signal));
        await listed.ended;
        return !listed.output.includes('sleep 54321');
      });
      assert.equal((await scene.find('one')).state, 'running');
    }));

  it('loses nothing of what a service says first, and asks for many connections at once', () =>
    withScene(async (scene) => {
      await scene.sandbox();
      const greet = 'echo welcome >/greeting; while :; do nc -l -p 9000 </greeting; done';
      await scene.start('greeter', [], { entryPoint: ['/bin/sh', '-c', greet] });
      const greeting = async (): Promise<string> => {
        const stream = await scene.containers.openPort('pod', { port: 9000 }, scene.signal);
        await stream.end?.();
        const chunks = await Array.fromAsync(stream.readable);
        return Buffer.concat(chunks).toString();
      };
      for (let times = 0; times < 10; times++) {
        let said: string | undefined;
        // Between two connections nobody listens.
        await scene.until(async () => (said = await greeting().catch(() => undefined)) !== undefined);
        assert.equal(said, 'welcome\n');
      }
      await scene.start('server', [], { entryPoint: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'] });
      const page = async (): Promise<string> => {
        const stream = await scene.containers.openPort('pod', { port: 8080 }, scene.signal);
        await stream.write(Buffer.from('GET /index.html HTTP/1.0\r\n\r\n'));
        return Buffer.concat(await Array.fromAsync(stream.readable)).toString();
      };
      await scene.until(async () => (await page().catch(() => '')) !== '');
      for (const text of await Promise.all(Array.from({ length: 30 }, page))) assert.match(text, /it works/);
    }));

  it('tells how a process ended that has not read its input', () =>
    withScene(async (scene) => {
      await scene.sandbox();
      const script = 'echo out; until test -e /tmp/go; do sleep 0.05; done; exit 4';
      const command = ['/bin/sh', '-c', script];
      await scene.start('one', [], { entryPoint: command, hasInput: true, endsInputOnce: true });
      await scene.start('two', ['stay']);
      for (const [id, connect] of [
        ['one', () => scene.containers.attach('one', { hasInput: true }, scene.signal)],
        [
          'two',
          () =>
            scene.containers.execute('two', { command, hasInput: true, hasTerminal: false }, scene.signal),
        ],
      ] as const) {
        const process = new Printed(await connect());
        if (id === 'two') await scene.until(() => process.output === 'out\n');
        let isFull = false;
        const flood = (async () => {
          for (;;) {
            isFull = true;
            const written = process.process.write(Buffer.alloc(65_536)).then(() => (isFull = false));
            await written;
          }
        })();
        flood.catch(() => undefined);
        // Nothing takes more of it for a while.
        for (let quiet = 0; quiet < 10; quiet = isFull ? quiet + 1 : 0) await scene.world.pass(50);
        const go = await scene.containers.execute(
          id,
          { command: ['/bin/sh', '-c', ': >/tmp/go'], hasInput: false, hasTerminal: false },
          scene.signal,
        );
        assert.equal(await go.exitCode(scene.signal), 0);
        await process.ended;
        assert.deepEqual([process.output, process.errors], [id === 'two' ? 'out\n' : '', '']);
        assert.equal(await process.process.exitCode(scene.signal), 4);
        await assert.rejects(flood);
        process.process.dispose();
      }
    }));

  it('runs nothing twice, wherever the control process is killed', () =>
    withScene(async (scene, world) => {
      const directory = await world.makeDirectory('killed');
      const sandbox = scene.sandboxSpec('pod');
      const steps = ['append /killed/runs once', 'print ready', 'stay'];
      const mounts = [{ hostPath: directory, containerPath: '/killed' }];
      const specsPath = join(directory, 'specs.json');
      // From before the first step to after the last one.
      for (const [index, delayMs] of [0, 100, 200].entries()) {
        const id = `cut-${index}`;
        const container: ContainerSpec = await scene.spec(id, steps, { mounts });
        await writeFile(specsPath, JSON.stringify({ sandbox, container }));
        await writeFile(join(directory, 'runs'), '');
        scene.containers.dispose();
        const { bootId } = world.options();
        const words = [
          world.layout.directory,
          world.subnet,
          specsPath,
          ...(bootId === undefined ? [] : [bootId]),
        ];
        const child = spawn(process.execPath, [program, ...words], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        for await (const line of createInterface(child.stdout)) if (line === 'opened') break;
        await pass(delayMs);
        child.kill('SIGKILL');
        await once(child, 'close');
        scene.reopen();
        assert.equal((await scene.containers.startSandbox(sandbox, scene.signal)).state, 'ready');
        const { state, end } = await scene.containers.startContainer(container, scene.signal);
        assert.deepEqual({ state, end }, { state: 'running', end: undefined }, `killed after ${delayMs} ms`);
        await scene.shows(id, 'ready');
        assert.equal(await readFile(join(directory, 'runs'), 'utf8'), 'once\n', `killed after ${delayMs} ms`);
        assert.equal(world.processes(new RegExp(`conmon .*-n container-${id} `)).length, 1);
        await scene.remove();
      }
    }));
});

/** It is ended, and its watcher says that it ended with 7, and gets no further. */
async function endHalfway(world: PodmanWorld, name: string, processId: number): Promise<number> {
  const [watcher = 0] = world.processes(new RegExp(`conmon .*-n ${name} `));
  const command = await readFile(`/proc/${watcher}/cmdline`, 'utf8');
  const [engineId = ''] = /[0-9a-f]{64}/.exec(command) ?? [];
  process.kill(watcher, 'SIGSTOP');
  process.kill(processId, 'SIGKILL');
  await writeFile(join(world.layout.run, 'libpod', 'exits', engineId), '7');
  return watcher;
}

async function pauseOf(world: PodmanWorld): Promise<number> {
  const [watcher = 0] = world.processes(/conmon .*-n sandbox-pod /);
  const children = await readFile(`/proc/${watcher}/task/${watcher}/children`, 'utf8');
  return Number(children.trim().split(' ')[0]);
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address ? address.port : 0;
}

function fetched(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    get(url, { agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
      response.on('end', () => resolve(text));
    }).on('error', () => resolve(undefined));
  });
}
