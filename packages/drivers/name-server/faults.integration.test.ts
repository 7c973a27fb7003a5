import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { LoopbackBench } from './name-bench.fixture.ts';
import { openNameServer } from './register.ts';

function remembering(lines: string[]): typeof silentLogger {
  const note = (message: string, fields: object = {}): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { ...silentLogger, warn: note, info: note };
}

it('a resolver that stalls is told once, and again when it is back', async () => {
  const lines: string[] = [];
  await LoopbackBench.with(async ({ server, addResolver, ask }) => {
    let isSilent = true;
    await addResolver(() => (isSilent ? 'silence' : ['192.0.2.1']));
    await server.start(() => ({ kind: 'elsewhere' }));
    const asked = await Promise.all(['a.example', 'b.example'].map((name) => ask(name, 'A')));
    assert.deepEqual(asked, ['failed', 'failed']);
    isSilent = false;
    assert.deepEqual(await ask('a.example', 'A'), ['a.example A 192.0.2.1']);
  }, remembering(lines));
  assert.equal(lines.length, 2, lines.join('\n'));
  assert.match(
    lines[0] ?? '',
    /does not answer; .*see \/etc\/resolv\.conf .*127\.0\.0\.1#\d+.*it does not answer/,
  );
  assert.match(lines[1] ?? '', /answers again/);
});

it('the next resolver is asked where one says nothing, and from then on first', async () => {
  const lines: string[] = [];
  await LoopbackBench.with(async ({ server, addResolver, ask }) => {
    let asked = 0;
    await addResolver(() => {
      asked++;
      return 'silence';
    });
    await addResolver(() => ['192.0.2.2']);
    await server.start(() => ({ kind: 'elsewhere' }));
    for (const name of ['a.example', 'b.example'])
      assert.deepEqual(await ask(name, 'A'), [`${name} A 192.0.2.2`]);
    assert.equal(asked, 1);
  }, remembering(lines));
  assert.match(lines.join(), /^a resolver of this host does not answer[^\n]*$/);
});

it('a host without resolvers fails at once, and says so', async () => {
  const lines: string[] = [];
  await LoopbackBench.with(async ({ server, ask }) => {
    await server.start(() => ({ kind: 'elsewhere' }));
    assert.equal(await ask('a.example', 'A'), 'failed');
  }, remembering(lines));
  assert.match(lines.join(), /this host names no resolver/);
});

it('a connection that sends nonsense ends alone', () =>
  LoopbackBench.with(async (bench) => {
    await bench.server.start(({ name, type }) => ({
      kind: 'records',
      zone: 'cluster.local',
      records: type === 'A' ? [{ name, type, address: '10.43.0.5' }] : [],
    }));
    const socket = connect({ host: '127.0.0.1', port: bench.backend.port });
    socket.write(Buffer.from([0, 12, ...Array.from({ length: 400 }, () => 255)]));
    socket.on('error', () => undefined);
    assert.deepEqual(await bench.ask('web.cluster.local', 'A'), ['web.cluster.local A 10.43.0.5']);
    socket.destroy();
  }));

it('the port of an earlier life is taken again if it is free, else another one', async () => {
  const options = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const first = openNameServer(options);
  const { port } = await first.start(() => ({ kind: 'later' }));
  const meanwhile = openNameServer({ ...options, port });
  assert.notEqual((await meanwhile.start(() => ({ kind: 'later' }))).port, port);
  first.dispose();
  const next = openNameServer({ ...options, port });
  assert.equal((await next.start(() => ({ kind: 'later' }))).port, port);
  for (const each of [meanwhile, next]) each.dispose();
});
