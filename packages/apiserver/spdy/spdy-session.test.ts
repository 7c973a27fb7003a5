import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestClock } from '@sheaf/testkit';
import { connectionPair, SpdyClient } from './spdy-client.fixture.ts';
import { SpdySession } from './spdy-session.ts';
import type { SpdyStream } from './spdy-stream.ts';

interface Scene {
  readonly client: SpdyClient;
  readonly session: SpdySession;
  readonly clock: TestClock;
  readonly streams: SpdyStream[];
}

function scene(isWanted = true): Scene {
  const [far, near] = connectionPair();
  const clock = new TestClock();
  const streams: SpdyStream[] = [];
  const onStream = (stream: SpdyStream): boolean => {
    streams.push(stream);
    return isWanted;
  };
  return { client: new SpdyClient(far), session: new SpdySession(near, { clock, onStream }), clock, streams };
}

describe('a SPDY session', () => {
  it('carries streams in both directions, each with its own end', async () => {
    const { client, streams } = scene();
    await client.open(1, { streamtype: 'stdin' });
    await client.open(3, { streamtype: 'stdout' });
    await client.until(({ heard }) => heard.length === 2);
    const [first, second] = streams;
    assert.equal(first?.headers.get('streamtype'), 'stdin');
    await client.send(1, 'to the ');
    await client.send(1, 'server', true);
    const received = await Array.fromAsync(first.readable);
    assert.equal(Buffer.concat(received).toString(), 'to the server');
    await second?.write(Buffer.from('x'.repeat(70_000)));
    await second?.end();
    await client.until((heard) => heard.textOf(3).endsWith('.'));
    assert.equal(client.textOf(3), `${'x'.repeat(70_000)}.`);
    await assert.rejects(second?.write(new Uint8Array(1)) ?? Promise.resolve(), /over/);
  });

  it('answers pings, and lets alone what it does not know', async () => {
    const { client } = scene();
    await client.say({ kind: 'ping', id: 2 }, { kind: 'ping', id: 1 });
    await client.send(77, 'to nobody');
    await client.say({ kind: 'reset', streamId: 9, status: 1 }, { kind: 'ping', id: 3 });
    await client.until(({ heard }) => heard.length === 2);
    assert.deepEqual(client.heard, [
      { kind: 'ping', id: 1 },
      { kind: 'ping', id: 3 },
    ]);
  });

  it('refuses streams that nobody wants, and those out of order', async () => {
    const { client } = scene(false);
    await client.open(3, {});
    await client.open(1, {});
    await client.open(4, {});
    await client.until(({ heard }) => heard.length === 4);
    assert.deepEqual(client.heard, [
      { kind: 'reply', streamId: 3, headers: new Map(), isLast: false },
      { kind: 'reset', streamId: 3, status: 3 },
      { kind: 'reset', streamId: 1, status: 1 },
      { kind: 'reset', streamId: 4, status: 1 },
    ]);
  });

  it('takes no more than it can hold', async () => {
    const { client, streams } = scene();
    await client.open(1, {});
    let sent = 0;
    const sending = (async () => {
      for (; sent < 200; sent++) await client.send(1, 'x'.repeat(10_000));
      await client.send(1, '', true);
    })();
    await client.until(({ heard }) => heard.length === 1);
    await settled();
    assert.ok(sent < 40, `${sent} parts of 10 kB were taken, though nobody reads them`);
    let received = 0;
    for await (const bytes of streams[0]?.readable ?? []) received += bytes.length;
    await sending;
    assert.equal(received, 2_000_000);
  });

  it('ends with its client, and tells its streams', async () => {
    const { client, session, streams } = scene();
    await client.open(1, {});
    await client.until(({ heard }) => heard.length === 1);
    client.leave();
    await assert.rejects(Array.fromAsync(streams[0]?.readable ?? []), /broken off/);
    await session.closed;
    assert.ok(session.signal.aborted);
  });

  it('ends when something else than SPDY comes', async () => {
    const [far, near] = connectionPair();
    const session = new SpdySession(near, { clock: new TestClock(), onStream: () => true });
    await far.write(Buffer.from([0x80, 1, 0, 1, 0, 0, 0, 0]));
    await session.closed;
  });

  it('breaks off one stream alone', async () => {
    const { client, streams } = scene();
    await client.open(1, {});
    await client.open(3, {});
    await client.until(({ heard }) => heard.length === 2);
    await client.say({ kind: 'reset', streamId: 1, status: 5 });
    await assert.rejects(Array.fromAsync(streams[0]?.readable ?? []), /broken it off/);
    streams[1]?.dispose();
    await client.until(({ heard }) => heard.length === 3);
    assert.deepEqual(client.heard[2], { kind: 'reset', streamId: 3, status: 5 });
  });

  it('asks now and then whether the client is there', async () => {
    const { client, session, clock } = scene();
    for (let beat = 1; beat <= 3; beat++) {
      clock.advance(10_000);
      await client.until(({ heard }) => heard.length === beat);
      await client.say({ kind: 'ping', id: beat * 2 });
      await settled();
    }
    assert.deepEqual(client.heard[2], { kind: 'ping', id: 6 });
    for (let beat = 0; beat < 7; beat++) clock.advance(10_000);
    await session.closed;
  });
});

/** Everything that can happen without anything else has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
}
