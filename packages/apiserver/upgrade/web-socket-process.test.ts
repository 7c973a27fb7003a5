import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { badRequest } from '@sheaf/base';
import { HandProcess, HandWebSocket, processAnswer } from './upgrade-scene.fixture.ts';
import { serveProcess } from './web-socket-process.ts';

const { signal } = new AbortController();
const v5 = { protocol: 'v5.channel.k8s.io', signal };

describe('a process over a WebSocket', () => {
  it('has its streams in channels, and an end of its input', async () => {
    const [socket, process] = [new HandWebSocket(), new HandProcess()];
    const served = serveProcess(socket, processAnswer(process), v5);
    await socket.until(({ got }) => got.length > 0);
    assert.deepEqual(socket.got, [Buffer.of(1)]);
    socket.say([0], 'typed');
    await process.until(({ typed }) => typed === 'typed');
    socket.say([255, 0]);
    await process.until(({ isInputEnded }) => isInputEnded);
    await process.printed.push(Buffer.from('out'));
    await process.printed.push(Buffer.from('!err'));
    process.exit(7);
    await served;
    assert.deepEqual([socket.textOf(1), socket.textOf(2)], ['out', 'err']);
    assert.deepEqual(JSON.parse(socket.textOf(3)), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: exit status 7',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '7' }] },
      code: 500,
    });
    assert.deepEqual([socket.closed?.code, process.isDisposed], [1000, true]);
  });

  it('tells success, and why it could not begin', async () => {
    const [socket, process] = [new HandWebSocket(), new HandProcess()];
    process.exit(0);
    await serveProcess(socket, processAnswer(process), v5);
    assert.deepEqual(JSON.parse(socket.textOf(3)), { metadata: {}, status: 'Success' });
    const other = new HandWebSocket();
    const refused = { ...processAnswer(process), open: () => Promise.reject(badRequest('no such program')) };
    await serveProcess(other, refused, v5);
    assert.match(other.textOf(3), /"message":"no such program","reason":"BadRequest"/);
  });

  it('speaks the protocols before', async () => {
    const [socket, process] = [new HandWebSocket(), new HandProcess()];
    const protocol = 'base64.channel.k8s.io';
    const served = serveProcess(socket, processAnswer(process), { protocol, signal });
    socket.say(`0${Buffer.from('typed').toString('base64')}`);
    await process.until(({ typed }) => typed === 'typed');
    await process.printed.push(Buffer.from('out'));
    process.exit(3);
    await served;
    assert.deepEqual(socket.got, [
      '1',
      `1${Buffer.from('out').toString('base64')}`,
      `3${Buffer.from('command terminated with non-zero exit code: exit status 3').toString('base64')}`,
    ]);
    const well = new HandProcess();
    const quiet = new HandWebSocket();
    well.exit(0);
    await serveProcess(quiet, processAnswer(well), { protocol: undefined, signal });
    assert.deepEqual(quiet.got, [Buffer.of(1)]);
  });

  it('takes sizes of its terminal, and nothing else for one', async () => {
    const [socket, process] = [new HandWebSocket(), new HandProcess()];
    const served = serveProcess(socket, processAnswer(process, { terminal: true, stderr: false }), v5);
    for (const text of [
      '{"Width":',
      '80,"Height":24}',
      'nonsense',
      '{"Width":-1,"Height":2}',
      '{"Width":1e9}',
    ])
      socket.say([4], text);
    socket.say([4], '{"Width":100,"Height":40}\n');
    await process.until(({ sizes }) => sizes.length === 2);
    assert.deepEqual(process.sizes, [
      { columns: 80, rows: 24 },
      { columns: 100, rows: 40 },
    ]);
    process.exit(0);
    await served;
  });

  it('does not mind what names no stream of it', async () => {
    const [socket, process] = [new HandWebSocket(), new HandProcess()];
    const served = serveProcess(socket, processAnswer(process), v5);
    for (const data of [[], [9, 1], [255], [255, 77], [1, 2]]) socket.say(data);
    socket.say([0], 'still there');
    await process.until(({ typed }) => typed === 'still there');
    process.exit(0);
    await served;
  });

  it('is let go of when its client goes, and when the server stops', async () => {
    const [socket, process] = [new HandWebSocket(), new HandProcess()];
    const served = serveProcess(socket, processAnswer(process), v5);
    socket.say([0], 'here');
    await process.until(({ typed }) => typed === 'here');
    socket.close(1001);
    await served;
    assert.ok(process.isDisposed);
    const stop = new AbortController();
    const [other, going] = [new HandWebSocket(), new HandProcess()];
    const stopped = serveProcess(other, processAnswer(going), { ...v5, signal: stop.signal });
    other.say([0], 'here');
    await going.until(({ typed }) => typed === 'here');
    stop.abort(new Error('the server stops'));
    await stopped;
    assert.deepEqual([other.closed, going.isDisposed], [{ code: 1001, reason: 'the server stops' }, true]);
  });
});
