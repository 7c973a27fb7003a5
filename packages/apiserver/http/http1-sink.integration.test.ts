import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { Http1Sink } from './http1-sink.ts';

interface Client {
  readonly socket: Socket;
  /** All that has come, once it ends with `ending`. */
  received(ending: string): Promise<string>;
}

type Answer = (outgoing: ServerResponse) => void;

async function serve(context: TestContext, answer: Answer): Promise<() => Promise<Client>> {
  const server = createServer((_incoming, outgoing) => answer(outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async () => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    context.after(() => socket.destroy());
    await once(socket, 'connect');
    let text = '';
    socket.on('data', (part: string) => {
      text += part;
    });
    return {
      socket,
      async received(ending) {
        while (!text.endsWith(ending)) await once(socket, 'data');
        return text;
      },
    };
  };
}

function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}

function sinkOf(outgoing: ServerResponse): Http1Sink {
  outgoing.flushHeaders();
  return new Http1Sink(outgoing);
}

describe('a stream over HTTP/1.1', () => {
  it('sends the same pieces to all, in order, each as a chunk', async (context) => {
    const sinks: Http1Sink[] = [];
    const open = await serve(context, (outgoing) => {
      sinks.push(sinkOf(outgoing));
      if (sinks.length < 2) return;
      const pieces = ['{"type":"ADDED"}\n', '{"type":"MODIFIED", "object": "ü"}\n'].map((text) =>
        Buffer.from(text),
      );
      for (const piece of pieces) for (const sink of sinks) sink.write(piece);
      for (const sink of sinks) sink.end();
    });
    const clients = [await open(), await open()];
    for (const { socket } of clients) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    const bodies = await Promise.all(
      clients.map(async (client) => bodyOf(await client.received('0\r\n\r\n'))),
    );
    const expected = '11\r\n{"type":"ADDED"}\n\r\n24\r\n{"type":"MODIFIED", "object": "Ã¼"}\n\r\n0\r\n\r\n';
    assert.deepEqual(bodies, [expected, expected]);
  });

  it('leaves the connection ready for the next request', async (context) => {
    const open = await serve(context, (outgoing) => {
      const sink = sinkOf(outgoing);
      sink.write(Buffer.from('once'));
      sink.write(new Uint8Array());
      sink.end();
      sink.write(Buffer.from('too late'));
      sink.end();
    });
    const { socket, received } = await open();
    const answer = 'once\r\n0\r\n\r\n';
    socket.write('GET /1 HTTP/1.1\r\nhost: a\r\n\r\n');
    await received(answer);
    socket.write('GET /2 HTTP/1.1\r\nhost: a\r\n\r\n');
    while ((await received(answer)).split(answer).length < 3) await once(socket, 'data');
    assert.equal((await received(answer)).split('HTTP/1.1 200 OK').length, 3);
  });

  it('sends no chunks to HTTP/1.0 nor where the length was told', async (context) => {
    const open = await serve(context, (outgoing) => {
      if (outgoing.req.url === '/told') outgoing.setHeader('content-length', '3');
      const sink = sinkOf(outgoing);
      sink.write(Buffer.from('abc'));
      sink.end();
    });
    const [old, told] = [await open(), await open()];
    old.socket.write('GET / HTTP/1.0\r\n\r\n');
    told.socket.write('GET /told HTTP/1.1\r\nhost: a\r\n\r\n');
    const bodies = [bodyOf(await old.received('abc')), bodyOf(await told.received('abc'))];
    assert.deepEqual(bodies, ['abc', 'abc']);
  });

  it('tells what is queued, and when a client has taken it', async (context) => {
    let sink: Http1Sink | undefined;
    const begun = Promise.withResolvers<void>();
    const open = await serve(context, (outgoing) => {
      sink = sinkOf(outgoing);
      const piece = Buffer.alloc(1 << 20, 'x');
      for (let count = 0; count < 32; count++) sink.write(piece);
      begun.resolve();
    });
    const { socket } = await open();
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await begun.promise;
    assert.ok((sink?.queuedBytes ?? 0) > 16 << 20);
    socket.resume();
    await sink?.drained();
    assert.equal(sink?.queuedBytes, 0);
  });
});
