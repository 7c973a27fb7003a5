import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Container } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { runProgram } from '../program.ts';
import { buildGoProgram, findKubectl } from '../tools.ts';
import { runJavascriptStreams } from './javascript-streams.ts';
import { type Kubectl, openKubectl, spdyEnvironment } from './kubectl.ts';
import { containersAreMissing, guestTag, type WorkloadHost, withWorkloadHost } from './workload-host.ts';

const kubectl = await findKubectl();
const clientGo = await buildGoProgram('client-go-streams', fileURLToPath(new URL('go/', import.meta.url)));
const program = 'path' in kubectl ? kubectl.path : '';
const skip = containersAreMissing ?? ('missing' in kubectl ? kubectl.missing : false);

const transports = [
  { transport: 'WebSockets', env: {} },
  { transport: 'SPDY', env: spdyEnvironment },
] as const;

interface Scene {
  readonly host: WorkloadHost;
  readonly kubectl: Kubectl;
}

describe('streams of pods', { skip }, () => {
  const opened = Promise.withResolvers<Scene>();
  const finished = Promise.withResolvers<void>();
  let whole: Promise<void> = Promise.resolve();

  before(async () => {
    whole = withWorkloadHost(async (host) => {
      const own = await openKubectl(program, host);
      try {
        await prepare(host);
        opened.resolve({ host, kubectl: own });
        await finished.promise;
      } finally {
        await own.close();
      }
    });
    whole.catch((error: unknown) => opened.reject(error as Error));
    await opened.promise;
  });
  after(async () => {
    finished.resolve();
    await whole;
  });

  /** What it says on success. */
  async function says(args: readonly string[], options: Parameters<Kubectl['run']>[1] = {}): Promise<string> {
    const { kubectl: own } = await opened.promise;
    const { code, out, err } = await own.run(args, options);
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${err}`);
    return out;
  }

  it('logs tell what a container has printed', async () => {
    assert.equal(await says(['logs', 'printer']), 'one\ntwo\nthree\n');
    assert.equal(await says(['logs', 'printer', '--tail=1']), 'three\n');
    assert.equal(await says(['logs', 'printer', '--limit-bytes=6']), 'one\ntw');
    assert.equal(await says(['logs', 'printer', '--since=1h']), 'one\ntwo\nthree\n');
    assert.equal(await says(['logs', 'printer', '--since-time=2999-01-01T00:00:00Z']), '');
    const lines = (await says(['logs', 'printer', '--timestamps'])).split('\n');
    assert.match(lines[0] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z one$/);
    assert.equal(await says(['logs', 'printer', '-c', 'first']), 'begun\n');
    // kubectl asks for the containers one after the other, in no order.
    const all = await says(['logs', 'printer', '--all-containers']);
    assert.deepEqual(all.split('\n').sort(), ['', 'begun', 'one', 'three', 'two']);
    assert.match(all, /one\ntwo\nthree\n/);
  });

  it('logs say why there are none', async () => {
    const { kubectl: own } = await opened.promise;
    for (const [args, words] of [
      [
        ['logs', 'unstartable'],
        /^Error from server \(BadRequest\): container "main" in pod "unstartable" is waiting to start: ErrImageNeverPull/,
      ],
      [['logs', 'printer', '-c', 'none'], /container none is not valid for pod printer/],
      [
        ['logs', 'printer', '--previous'],
        /Error from server \(BadRequest\): previous terminated container "main" in pod "printer" not found/,
      ],
      [['logs', 'nobody'], /error from server \(NotFound\): pods "nobody" not found/],
    ] as const) {
      const { code, err } = await own.run(args);
      assert.equal(code, 1);
      assert.match(err, words);
    }
  });

  it('logs are followed to the end of the container', async () => {
    const { host, kubectl: own } = await opened.promise;
    await runPod(host, 'followed', {
      args: ['print ready', 'echo', 'print bye'],
      stdin: true,
      stdinOnce: true,
    });
    const following = own.start(['logs', '-f', 'followed']);
    await until(() => following.out() === 'ready\n');
    assert.match(await says(['attach', '-i', 'followed'], { input: 'typed\n' }), /typed\n/);
    assert.equal(await following.ended, 0);
    assert.equal(following.out(), 'ready\ntyped\nbye\n');
  });

  it('logs of the run before', async () => {
    const { host } = await opened.promise;
    await runPod(host, 'again', {
      command: [
        '/bin/sh',
        '-c',
        'echo run; test -e /kept/mark && exec sleep 1000; echo x >/kept/mark; exit 3',
      ],
      volumeMounts: [{ name: 'kept', mountPath: '/kept' }],
    });
    await host.until(async () => {
      const { status } = await host.client.get(resources.pods, { namespace: 'default', name: 'again' });
      return status?.containerStatuses?.[0]?.restartCount === 1 && status.phase === 'Running';
    });
    assert.equal(await says(['logs', 'again', '--previous']), 'run\n');
  });

  it('client-go executes and forwards, and what it gives up ends', {
    skip: 'missing' in clientGo ? clientGo.missing : false,
  }, async () => {
    const { host, kubectl: own } = await opened.promise;
    const args = ['--kubeconfig', own.kubeconfig, '--pod', 'stays'];
    const { code, out, err } = await runProgram('path' in clientGo ? clientGo.path : '', args);
    assert.equal(code, 0, err);
    const exec = { whole: true, err: 'err\n', code: 3 };
    assert.deepEqual(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
      ['websocket', 'spdy'].flatMap((way) => [
        { step: `${way} exec`, result: exec },
        { step: `${way} cancel`, result: true },
        { step: `${way} port-forward`, result: 'it works\n' },
      ]),
    );
    await host.until(async () => !(await says(['exec', 'stays', '--', 'ps'])).includes('sleep 10000'));
  });

  it('the JavaScript client executes and forwards', async () => {
    const { kubectl: own } = await opened.promise;
    const { out, errors, status, page } = await runJavascriptStreams(own.kubeconfig, 'stays');
    assert.deepEqual([out, errors], ['typed\n', 'err\n']);
    assert.deepEqual(
      [status.status, status.reason, status.details?.causes],
      ['Failure', 'NonZeroExitCode', [{ reason: 'ExitCode', message: '9' }]],
    );
    assert.match(page, /^HTTP\/1\.[01] 200 OK[^]*it works\n$/);
  });

  for (const { transport, env } of transports) {
    it(`exec over ${transport}: input, both outputs, exit codes`, async () => {
      const { kubectl: own } = await opened.promise;
      const run = (...args: string[]): ReturnType<Kubectl['run']> => own.run(['exec', ...args], { env });
      const both = await run('stays', '--', '/bin/sh', '-c', 'echo out; echo err >&2; exit 7');
      assert.deepEqual(
        [both.code, both.out, both.err],
        [7, 'out\n', 'err\ncommand terminated with exit code 7\n'],
      );
      assert.equal(
        await says(['exec', '-i', 'stays', '--', 'cat'], { input: 'through\n', env }),
        'through\n',
      );
      const input = 'x'.repeat(3_000_000);
      const deaf = await own.run(['exec', '-i', 'stays', '--', '/bin/sh', '-c', 'exit 4'], { env, input });
      assert.equal(deaf.code, 4, deaf.err);
      const missing = await run('stays', '--', '/no/such/program');
      assert.notEqual(missing.code, 0);
      assert.match(missing.err, /error executing command in container: .*(no such file|not found)/);
      const ended = await run('printer', '-c', 'first', '--', 'ls');
      assert.notEqual(ended.code, 0);
      assert.match(ended.err, /container not found \("first"\)/);
    });

    it(`exec over ${transport}: a flood, whole`, async () => {
      const { kubectl: own } = await opened.promise;
      const args = ['exec', 'stays', '--', '/bin/sh', '-c', 'busybox seq 1 200000'];
      const { code, out } = await own.run(args, { env });
      assert.equal(code, 0);
      const lines = out.trimEnd().split('\n');
      assert.deepEqual([lines.length, lines[0], lines.at(-1)], [200_000, '1', '200000']);
    });

    it(`exec over ${transport}: a terminal`, async () => {
      const { kubectl: own } = await opened.promise;
      // `script` gives kubectl a terminal of its own.
      const command =
        'until test "$(stty size 2>/dev/null)" = "33 101"; do sleep 0.1; done; test -t 0 && echo terminal; exit 5';
      const inner = `stty rows 33 cols 101; exec ${program} exec -it stays -- /bin/sh -c '${command}'`;
      const result = await runProgram('script', ['-qec', inner, '/dev/null'], {
        env: { ...own.environment, ...env, SHELL: '/bin/sh' },
      });
      assert.match(result.out, /terminal\r\ncommand terminated with exit code 5\r\n$/);
      assert.equal(result.code, 5);
    });

    it(`attach over ${transport}: several look on, and one types`, async () => {
      const { host, kubectl: own } = await opened.promise;
      const name = `attached-${transport.toLowerCase()}`;
      await runPod(host, name, { args: ['print ready', 'echo', 'exit 4'], stdin: true, stdinOnce: true });
      const viewer = own.start(['attach', name], env);
      const typist = own.start(['attach', '-i', name], env);
      // Whoever comes sees what is said from then on.
      const saying = setInterval(() => typist.process.stdin.write('hello\n'), 100);
      await until(() => typist.out().includes('hello\n') && viewer.out().includes('hello\n'));
      clearInterval(saying);
      typist.process.stdin.end();
      assert.equal(await typist.ended, 0);
      assert.equal(await viewer.ended, 0);
    });

    it(`port-forward over ${transport}`, async () => {
      const { kubectl: own } = await opened.promise;
      const forward = own.start(['port-forward', 'stays', ':8080', ':8081'], env);
      await until(() => (forward.out().match(/Forwarding from 127\.0\.0\.1:\d+ -> /g)?.length ?? 0) === 2);
      const port = /127\.0\.0\.1:(\d+) -> 8080/.exec(forward.out())?.[1];
      const page = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/index.html`)).text();
      assert.equal(await page(), 'it works\n');
      assert.deepEqual(
        await Promise.all(Array.from({ length: 20 }, page)),
        Array.from({ length: 20 }, () => 'it works\n'),
      );
      const closed = /127\.0\.0\.1:(\d+) -> 8081/.exec(forward.out())?.[1];
      await assert.rejects(fetch(`http://127.0.0.1:${closed}/`));
      await until(() => forward.err().includes('error forwarding port 8081 to pod stays, uid '));
      forward.process.kill('SIGINT');
      await forward.ended;
    });

    it(`cp over ${transport}, there and back`, async () => {
      const { kubectl: own } = await opened.promise;
      const content = Buffer.alloc(3_000_000, transport);
      await writeFile(join(own.directory, 'there'), content);
      await says(['cp', join(own.directory, 'there'), 'stays:/tmp/there'], { env });
      await says(['cp', 'stays:/tmp/there', join(own.directory, 'back')], { env });
      assert.ok((await readFile(join(own.directory, 'back'))).equals(content));
    });
  }
});

const server = '/bin/httpd -p 8080 -h /www; exec sleep 77777';

async function prepare(host: WorkloadHost): Promise<void> {
  const { client } = host;
  await client.create(resources.pods, {
    metadata: { namespace: 'default', name: 'printer' },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      initContainers: [{ name: 'first', image: guestTag, imagePullPolicy: 'Never', args: ['print begun'] }],
      containers: [
        {
          name: 'main',
          image: guestTag,
          imagePullPolicy: 'Never',
          args: ['print one', 'print two', 'print three', 'stay'],
        },
      ],
    },
  });
  await client.create(resources.pods, {
    metadata: { namespace: 'default', name: 'unstartable' },
    spec: { containers: [{ name: 'main', image: 'localhost/no/such:1', imagePullPolicy: 'Never' }] },
  });
  await runPod(host, 'stays', { command: ['/bin/sh', '-c', server] });
  await running(host, 'printer');
  await host.until(async () => {
    const { status } = await client.get(resources.pods, { namespace: 'default', name: 'unstartable' });
    return status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImageNeverPull';
  });
}

async function runPod(host: WorkloadHost, name: string, container: Partial<Container>): Promise<void> {
  await host.client.create(resources.pods, {
    metadata: { namespace: 'default', name },
    spec: {
      terminationGracePeriodSeconds: 1,
      restartPolicy: container.stdinOnce === true ? 'Never' : 'Always',
      volumes: [{ name: 'kept', emptyDir: {} }],
      containers: [{ name: 'main', image: guestTag, imagePullPolicy: 'Never', ...container }],
    },
  });
  await running(host, name);
}

async function running({ client, until: becomes }: WorkloadHost, name: string): Promise<void> {
  await becomes(async () => {
    const { status } = await client.get(resources.pods, { namespace: 'default', name });
    return status?.phase === 'Running';
  });
}

/** Waits for what comes by itself; the runner's limit ends it. */
async function until(claim: () => boolean): Promise<void> {
  while (!claim()) await new Promise((resolve) => setTimeout(resolve, 20));
}
