import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import type { ByteStream } from '@sheaf/ports';
import { datagramStream } from './datagram-stream.ts';

const sockets: Socket[] = [];
const streams: ByteStream[] = [];
after(() => {
  for (const socket of sockets) socket.close();
  for (const stream of streams) stream.dispose();
});

async function openStream(port: number): Promise<ByteStream> {
  const stream = await datagramStream(port);
  streams.push(stream);
  return stream;
}

async function serve(
  onMessage: (message: Buffer, answer: (bytes: Uint8Array) => void) => void,
): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'listening');
  socket.on('message', (message, { port, address }) =>
    onMessage(message, (bytes) => socket.send(bytes, port, address)),
  );
  return socket;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('messages of UDP as a stream', () => {
  it('come one to a chunk, each whole, the empty one too', async () => {
    const server = await serve((message, answer) =>
      answer(Buffer.concat([Buffer.from('<'), message, Buffer.from('>')])),
    );
    const stream = await openStream(server.address().port);
    const large = 'x'.repeat(20_000);
    const heard: string[] = [];
    for (const text of ['one', '', large]) await stream.write(bytesOf(text));
    for await (const chunk of stream.readable) {
      heard.push(new TextDecoder().decode(chunk));
      if (heard.length === 3) break;
    }
    assert.deepEqual(heard, ['<one>', '<>', `<${large}>`]);
    await assert.rejects(
      stream.write(new Uint8Array(65_508)),
      /at most 65507 bytes: send these 65508 in parts/,
    );
    stream.dispose();
    await assert.rejects(stream.write(bytesOf('late')), /has ended: open it again/);
  });

  it('are lost where nobody reads them, rather than kept without end', async () => {
    let answerNow: (bytes: Uint8Array) => void = () => undefined;
    const server = await serve((_, answer) => {
      answerNow = answer;
    });
    const stream = await openStream(server.address().port);
    await stream.write(bytesOf('flood'));
    await once(server, 'message');
    // One at a time, so that none is lost before it comes here.
    for (let sent = 0; sent < 40; sent++) {
      answerNow(new Uint8Array(20_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    let kept = 0;
    for await (const chunk of stream.readable) {
      if (chunk.length === 4) break;
      if (kept === 0) answerNow(bytesOf('last'));
      kept += chunk.length;
    }
    assert.ok(kept > 0 && kept <= 256 * 1024, `${kept} bytes were kept`);
    stream.dispose();
  });

  it('end with words where nothing takes them', async () => {
    const server = await serve(() => undefined);
    const { port } = server.address();
    sockets.splice(sockets.indexOf(server), 1);
    await new Promise<void>((resolve) => void server.close(resolve));
    const stream = await openStream(port);
    await stream.write(bytesOf('is anybody there'));
    await assert.rejects(async () => {
      for await (const chunk of stream.readable) void chunk;
    }, /nothing takes messages at that port: see whether the machine runs/);
    stream.dispose();
  });
});
