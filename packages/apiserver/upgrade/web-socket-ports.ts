import type { PortsAnswer } from '@sheaf/api';
import { type WebSocketLike, WebSocketStream } from '@sheaf/base';
import { joinPort } from './port-session.ts';
import { isBase64 } from './protocols.ts';
import { ChannelReader, channelFrames } from './web-socket-channels.ts';
import { endSocket } from './web-socket-process.ts';

/** One connection to each port that the request names: two channels each, for its bytes and for what goes wrong. */
export async function serveFixedPorts(
  socket: WebSocketLike,
  answer: PortsAnswer,
  { protocol, signal }: { readonly protocol: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const stream = new WebSocketStream(socket, channelFrames(isBase64(protocol)));
  const gone = new AbortController();
  const both = AbortSignal.any([signal, gone.signal]);
  void stream.closed.then(() => gone.abort(new Error('the client is gone')));
  const reader = new ChannelReader(answer.ports.map((_, index) => index * 2));
  const reading = reader.read(stream);
  const send = (channel: number, bytes: Uint8Array): Promise<void> => stream.write({ channel, bytes });
  await Promise.all(
    answer.ports.map(async (port, index) => {
      const [data, errors] = [index * 2, index * 2 + 1];
      const readable = reader.of(data);
      const named = Buffer.alloc(2);
      named.writeUInt16LE(port);
      const fail = (words: string): Promise<void> => send(errors, Buffer.from(words));
      try {
        // Each channel says first which port it is for.
        await send(data, named);
        await send(errors, named);
        await joinPort(answer, { port, data: { readable, write: (bytes) => send(data, bytes) }, fail }, both);
      } catch {
        // The client is gone.
      }
    }),
  );
  reader.dispose();
  await endSocket(stream, signal);
  await reading;
}
