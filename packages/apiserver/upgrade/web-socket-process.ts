import type { ProcessAnswer } from '@sheaf/api';
import { closeCodes, type WebSocketLike, WebSocketStream } from '@sheaf/base';
import { outcomeText } from './outcome-text.ts';
import { type ClientStreams, joinProcess } from './process-session.ts';
import { isBase64 } from './protocols.ts';
import { type ChannelMessage, ChannelReader, channelFrames } from './web-socket-channels.ts';

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, sizes: 4 } as const;
const encoder = new TextEncoder();

/** A process over a WebSocket, whose streams are numbered channels. Resolves when both are over. */
export async function serveProcess(
  socket: WebSocketLike,
  answer: ProcessAnswer,
  { protocol, signal }: { readonly protocol: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const stream = new WebSocketStream(socket, channelFrames(isBase64(protocol)));
  const reader = new ChannelReader([channels.stdin, channels.sizes]);
  const gone = new AbortController();
  const reading = reader.read(stream);
  void stream.closed.then(() => gone.abort(new Error('the client is gone')));
  const client = clientOf(stream, reader, protocol);
  // An empty message tells clients that they are heard.
  await stream.write({ channel: firstChannel(answer), bytes: new Uint8Array() }).catch(() => undefined);
  await joinProcess(answer, client, AbortSignal.any([signal, gone.signal]));
  reader.dispose();
  await endSocket(stream, signal);
  await reading;
}

/** After everything that was sent. `signal`: the server stops. */
export async function endSocket<T>(stream: WebSocketStream<T>, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) return await stream.end();
  stream.fail(closeCodes.goingAway, 'the server stops');
  await stream.closed;
}

function clientOf(
  stream: WebSocketStream<ChannelMessage>,
  reader: ChannelReader,
  protocol: string | undefined,
): ClientStreams {
  return {
    input: reader.of(channels.stdin),
    sizes: reader.of(channels.sizes),
    write: (name, bytes) => stream.write({ channel: channels[name], bytes }),
    async tell(outcome) {
      const text = outcomeText(outcome, protocol);
      if (text !== '') await stream.write({ channel: channels.error, bytes: encoder.encode(text) });
    },
  };
}

function firstChannel({ streams }: ProcessAnswer): number {
  if (streams.stdout) return channels.stdout;
  return streams.stderr ? channels.stderr : channels.error;
}
