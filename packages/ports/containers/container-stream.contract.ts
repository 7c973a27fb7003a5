import assert from 'node:assert/strict';
import { type ContainersScene, Printed } from './containers-scene.fixture.ts';

const text = new TextDecoder();

export async function keepsLogs(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  await scene.sandbox();
  await scene.output('one', ['print first', 'print second', 'print third']);
  await scene.output('other', ['print out', 'complain err']);
  const lines = [];
  for await (const line of containers.readLog('other', {}, signal)) lines.push(line);
  assert.deepEqual(
    // Two streams have no order between them.
    lines
      .map(({ stream, content, isPart }) => ({ stream, content: text.decode(content), isPart }))
      .toSorted((a, b) => (a.stream > b.stream ? -1 : 1)),
    [
      { stream: 'stdout', content: 'out', isPart: false },
      { stream: 'stderr', content: 'err', isPart: false },
    ],
  );
  for (const { time } of lines) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
  assert.equal(await scene.log('one', { tailLines: 2 }), 'second\nthird\n');
  assert.equal(await scene.log('one', { tailLines: 0 }), '');
  assert.equal(await scene.log('one', { tailLines: 10 }), 'first\nsecond\nthird\n');
  const { endedAt = 0 } = await scene.find('one');
  assert.equal(await scene.log('one', { since: endedAt + 60_000 }), '');
  assert.equal(await scene.log('one', { since: endedAt - 60_000 }), 'first\nsecond\nthird\n');
  await scene.refuses(containers.removeLog('one', signal), 'Conflict', /remove it/);
  await containers.removeContainer('one', signal);
  assert.equal(await scene.log('one', { tailLines: 1 }), 'third\n');
  for (let time = 0; time < 2; time++) await containers.removeLog('one', signal);
  await scene.refuses(scene.log('one'), 'NotFound', /no container one/);
}

export async function followsLogs(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  await scene.sandbox();
  await scene.start('one', ['print ready', 'echo', 'print bye'], { hasInput: true });
  let seen = '';
  const following = (async () => {
    for await (const { content } of containers.readLog('one', { isFollowed: true }, signal))
      seen += `${text.decode(content)}\n`;
  })();
  await scene.until(() => seen === 'ready\n');
  const attached = await containers.attach('one', { hasInput: true }, signal);
  await attached.write(new TextEncoder().encode('typed\n'));
  await scene.until(() => seen === 'ready\ntyped\n');
  attached.dispose();
  const controller = new AbortController();
  const given = (async () => {
    for await (const _ of containers.readLog('one', { isFollowed: true }, controller.signal)) seen += '';
  })();
  await scene.world.pass(50);
  controller.abort(new Error('enough'));
  await scene.outcome(given);
  await scene.outcome(containers.stopContainer('one', { graceMs: 0 }, signal));
  await scene.outcome(following);
  assert.equal(seen, 'ready\ntyped\n');
}

export async function executesCommands(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  await scene.sandbox();
  await scene.start('one', ['stay'], { environment: { FROM: 'spec' } });
  const both = await scene.execute('one', ['print out', 'complain err', 'variable FROM', 'exit 7']);
  await both.ended;
  assert.deepEqual([both.output, both.errors], ['out\nspec\n', 'err\n']);
  assert.equal(await both.process.exitCode(signal), 7);
  await assert.rejects(both.process.write(new Uint8Array([1])), /no input/);
  const fed = await scene.execute('one', ['echo', 'print end'], { hasInput: true });
  await fed.type('one\n');
  await scene.until(() => fed.output === 'one\n');
  await fed.type('two\n');
  await fed.process.endInput();
  await fed.ended;
  assert.equal(fed.output, 'one\ntwo\nend\n');
  assert.equal(await fed.process.exitCode(signal), 0);
  const none = { command: ['/no/such/program'], hasInput: false, hasTerminal: false };
  await scene.refuses(containers.execute('one', none, signal), 'BadRequest', /no such file|not found/);
  // It is ended with its connection.
  const left = await scene.execute('one', ['print left', 'deaf', 'stay']);
  await scene.until(() => left.output === 'left\n');
  left.process.dispose();
  await scene.until(async () => (await left.process.exitCode(signal)) === 137);
  assert.equal((await scene.find('one')).state, 'running');
  await scene.outcome(containers.stopContainer('one', { graceMs: 0 }, signal));
  const late = { command: ['/guest'], hasInput: false, hasTerminal: false };
  await scene.refuses(containers.execute('one', late, signal), 'Conflict', /does not run/);
}

export async function givesTerminals(scene: ContainersScene): Promise<void> {
  await scene.sandbox();
  await scene.start('one', ['terminal', 'stay'], { hasInput: true, hasTerminal: true });
  await scene.shows('one', 'yes');
  const plain = await scene.execute('one', ['terminal']);
  await plain.ended;
  assert.equal(plain.output, 'no\n');
  const terminal = await scene.execute('one', ['terminal', 'complain err', 'echo'], {
    hasInput: true,
    hasTerminal: true,
  });
  await scene.until(() => terminal.output === 'yes\r\nerr\r\n');
  await terminal.process.resize({ columns: 100, rows: 40 });
  await terminal.type('x\n');
  await scene.until(() => terminal.output.includes('x\r\nx\r\n'));
  // The end of input, as it is typed.
  await terminal.type('\u0004');
  await terminal.ended;
  assert.equal(await terminal.process.exitCode(scene.signal), 0);
}

export async function attaches(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  const attach = async (id: string, hasInput: boolean): Promise<Printed> =>
    new Printed(await containers.attach(id, { hasInput }, signal));
  await scene.sandbox();
  await scene.start('one', ['print ready', 'echo', 'exit 5'], { hasInput: true, endsInputOnce: true });
  await scene.shows('one', 'ready');
  const viewer = await attach('one', false);
  const typist = await attach('one', true);
  const other = await attach('one', true);
  await assert.rejects(viewer.process.write(new Uint8Array([1])), /no input/);
  let typed = '';
  // Those who only look on go, and each time the input is still there afterwards.
  for (const words of ['first', ' second', ' third\n']) {
    const passing = await attach('one', false);
    await typist.type(words);
    typed += words;
    await scene.until(() => passing.output === words);
    await passing.process.endInput();
    passing.process.dispose();
    await passing.ended;
    await scene.until(() => [viewer, typist, other].every(({ output }) => output === typed));
  }
  typist.process.dispose();
  for (const left of [viewer, other]) {
    await scene.outcome(left.ended);
    assert.equal(await left.process.exitCode(signal), 5);
    assert.equal(left.output, typed);
  }
  await scene.refuses(containers.attach('one', { hasInput: false }, signal), 'Conflict', /does not run/);
}

export async function keepsInput(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  await scene.sandbox();
  for (const hasTerminal of [false, true]) {
    const id = hasTerminal ? 'terminal' : 'plain';
    await scene.start(id, ['print ready', 'echo', 'exit 5'], { hasInput: true, hasTerminal });
    await scene.shows(id, 'ready');
    for (const words of ['first', 'second', 'third']) {
      const typist = new Printed(await containers.attach(id, { hasInput: true }, signal));
      await typist.type(`${words}\n`);
      await scene.until(() => typist.output.includes(words));
      await typist.process.endInput();
      typist.process.dispose();
      await typist.ended;
    }
    await scene.outcome(containers.stopContainer(id, { graceMs: 0 }, signal));
  }
  await scene.start('none', ['echo', 'print over', 'stay']);
  await scene.shows('none', 'over');
  const deaf = await containers.attach('none', { hasInput: true }, signal);
  await assert.rejects(deaf.write(new Uint8Array([1])), /no input/);
  deaf.dispose();
}

export async function reachesPorts(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  await scene.sandbox('pod', { hostname: 'server-name' });
  await scene.start('one', ['listen 8080', 'print ready', 'stay']);
  await scene.shows('one', 'ready');
  const ask = async (): Promise<string> => {
    const stream = await containers.openPort('pod', { port: 8080 }, signal);
    try {
      await stream.write(new TextEncoder().encode('GET / HTTP/1.0\r\n\r\n'));
      let answer = '';
      for await (const bytes of stream.readable) answer += text.decode(bytes);
      return answer;
    } finally {
      stream.dispose();
    }
  };
  for (const answer of await Promise.all([ask(), ask()])) {
    assert.match(answer, /^HTTP\/1\.\d 200 OK/);
    assert.match(answer, /server-name/);
  }
  const closed = containers.openPort('pod', { port: 8081 }, signal);
  await scene.refuses(closed, 'ServiceUnavailable', /port 8081/);
  await scene.refuses(containers.openPort('none', { port: 1 }, signal), 'NotFound', /no sandbox none/);
}
