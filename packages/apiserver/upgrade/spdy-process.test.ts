import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestClock } from '@sheaf/testkit';
import { connectionPair, SpdyClient } from '../spdy/spdy-client.fixture.ts';
import { serveProcess } from './spdy-process.ts';
import { HandProcess, processAnswer } from './upgrade-scene.fixture.ts';

const { signal } = new AbortController();

describe('a process over SPDY', () => {
  it('begins when all of its streams are there, and ends each of them', async () => {
    const [far, near] = connectionPair();
    const [client, process] = [new SpdyClient(far), new HandProcess()];
    let isOpened = false;
    const answer = processAnswer(process, { terminal: true, stderr: false });
    const served = serveProcess(
      near,
      {
        ...answer,
        open(asked) {
          isOpened = true;
          return answer.open(asked);
        },
      },
      { clock: new TestClock(), signal, protocol: 'v4.channel.k8s.io' },
    );
    for (const [id, streamtype] of [
      [1, 'error'],
      [3, 'stdin'],
      [5, 'stdout'],
    ] as const)
      await client.open(id, { streamtype });
    await client.open(7, { streamtype: 'stdout' });
    await client.open(9, { streamtype: 'stderr' });
    await client.until(({ heard }) => heard.length === 7);
    assert.deepEqual(
      client.heard.slice(4).filter(({ kind }) => kind === 'reset'),
      [
        { kind: 'reset', streamId: 7, status: 3 },
        { kind: 'reset', streamId: 9, status: 3 },
      ],
    );
    assert.equal(isOpened, false);
    await client.open(11, { streamtype: 'resize' });
    await client.send(11, '{"Width":80,"Height":24}\n');
    await client.send(3, 'typed', true);
    await process.until(({ isInputEnded, sizes }) => isInputEnded && sizes.length === 1);
    assert.equal(process.typed, 'typed');
    await process.printed.push(Buffer.from('out'));
    process.exit(0);
    await client.until((heard) => heard.textOf(1).endsWith('.') && heard.textOf(5).endsWith('.'));
    assert.deepEqual([client.textOf(5), client.textOf(1)], ['out.', '{"metadata":{},"status":"Success"}.']);
    client.leave();
    await served;
    assert.ok(process.isDisposed);
  });

  it('does not begin for a client that never comes', async () => {
    const [far, near] = connectionPair();
    const [client, process, clock] = [new SpdyClient(far), new HandProcess(), new TestClock()];
    const answer = { ...processAnswer(process), open: () => assert.fail('nobody is there') };
    const served = serveProcess(near, answer, { clock, signal, protocol: undefined });
    await client.open(1, { streamtype: 'error' });
    await client.until(({ heard }) => heard.length === 1);
    clock.advance(30_000);
    await served;
    await client.over;
  });

  it('ends a client that does not leave', async () => {
    const [far, near] = connectionPair();
    const [client, process, clock] = [new SpdyClient(far), new HandProcess(), new TestClock()];
    const answer = processAnswer(process, { stdin: false, stderr: false });
    const served = serveProcess(near, answer, { clock, signal, protocol: 'channel.k8s.io' });
    await client.open(1, { streamtype: 'error' });
    await client.open(3, { streamtype: 'stdout' });
    process.exit(9);
    await client.until((heard) => heard.textOf(1).endsWith('.'));
    assert.equal(client.textOf(1), 'command terminated with non-zero exit code: exit status 9.');
    await new Promise(setImmediate);
    clock.advance(5000);
    await served;
    assert.deepEqual(client.heard.at(-1), { kind: 'go-away' });
  });
});
