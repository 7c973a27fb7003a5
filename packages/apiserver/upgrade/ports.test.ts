import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestClock } from '@sheaf/testkit';
import { connectionPair, SpdyClient } from '../spdy/spdy-client.fixture.ts';
import { servePorts } from './spdy-ports.ts';
import { HandWebSocket, portsAnswer } from './upgrade-scene.fixture.ts';
import { serveFixedPorts } from './web-socket-ports.ts';

const { signal } = new AbortController();

describe('ports over SPDY', () => {
  it('are any number of connections, each with its own end and its own failure', async () => {
    const [far, near] = connectionPair();
    const [client, answer] = [new SpdyClient(far), portsAnswer()];
    const served = servePorts(near, answer, { clock: new TestClock(), signal });
    for (const [index, port] of [8080, 8081, 1].entries()) {
      const headers = { port: String(port), requestid: String(index) };
      await client.open(index * 4 + 1, { ...headers, streamtype: 'error' });
      await client.open(index * 4 + 3, { ...headers, streamtype: 'data' });
    }
    await client.send(3, 'one', true);
    await client.send(7, 'two', true);
    await client.until((heard) => [1, 3, 5, 7, 9].every((id) => heard.textOf(id).endsWith('.')));
    assert.deepEqual(
      [1, 3, 5, 7, 9].map((id) => client.textOf(id)),
      ['.', '8080 ONE.', '.', '8081 TWO.', 'port 1 is closed.'],
    );
    assert.deepEqual(answer.opened, [8080, 8081, 1]);
    client.leave();
    await served;
  });

  it('are not opened by halves, nor by what makes no sense', async () => {
    const [far, near] = connectionPair();
    const [client, answer, clock] = [new SpdyClient(far), portsAnswer(), new TestClock()];
    const served = servePorts(near, answer, { clock, signal });
    await client.open(1, { streamtype: 'data', port: '80', requestid: '0' });
    await client.open(3, { streamtype: 'data', port: '80', requestid: '0' });
    await client.open(5, { streamtype: 'error', port: '81', requestid: '0' });
    await client.open(7, { streamtype: 'data', port: '0', requestid: '1' });
    await client.open(9, { streamtype: 'data', port: '99999', requestid: '1' });
    await client.open(11, { streamtype: 'song', port: '80', requestid: '1' });
    await client.open(13, {});
    const resets = ({ heard }: SpdyClient): number[] =>
      heard.flatMap((frame) => (frame.kind === 'reset' ? [frame.streamId] : []));
    await client.until((heard) => resets(heard).length === 6);
    assert.deepEqual(resets(client), [3, 5, 7, 9, 11, 13]);
    clock.advance(30_000);
    await client.until((heard) => resets(heard).includes(1));
    assert.deepEqual(answer.opened, []);
    client.leave();
    await served;
  });

  it('end with the server', async () => {
    const [far, near] = connectionPair();
    const [client, stop] = [new SpdyClient(far), new AbortController()];
    const served = servePorts(near, portsAnswer(), { clock: new TestClock(), signal: stop.signal });
    await client.open(1, { streamtype: 'error', port: '80', requestid: '0' });
    await client.open(3, { streamtype: 'data', port: '80', requestid: '0' });
    await client.until(({ heard }) => heard.length === 2);
    stop.abort(new Error('the server stops'));
    await served;
    await client.until(({ heard }) => heard.some(({ kind }) => kind === 'go-away'));
  });
});

describe('ports over a WebSocket', () => {
  it('are a connection for each that the request names', async () => {
    const [socket, answer] = [new HandWebSocket(), portsAnswer([8080, 1])];
    const served = serveFixedPorts(socket, answer, { protocol: 'v4.channel.k8s.io', signal });
    socket.say([0], 'words');
    socket.say([255, 0]);
    await served;
    assert.deepEqual(
      [0, 1, 2, 3].map((channel) => socket.textOf(channel).slice(2)),
      ['8080 WORDS', '', '', 'port 1 is closed'],
    );
    assert.deepEqual(socket.got[0], Buffer.of(0, 0x90, 0x1f));
    assert.equal(socket.closed?.code, 1000);
  });
});
