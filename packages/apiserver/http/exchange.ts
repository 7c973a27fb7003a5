import type { UpgradeAnswer } from '@sheaf/api';
import type { ApiHandler, ApiRequest, ApiResponse, StreamSink } from '../pipeline/api-request.ts';
import { compressed, isWorthCompressing } from './compression.ts';
import type { Deadline } from './deadline.ts';

/** One request and the means to answer it, whichever protocol carries it. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly deadline: Deadline;
  /** Aborts the request's signal. */
  abort(reason: Error): void;
  /** True once nobody reads the answer any more. */
  readonly isGone: boolean;
  sendBytes(response: ApiResponse, body: Uint8Array): void;
  /** Sends the head at once and gives the way for the body. */
  openStream(response: ApiResponse): ExchangeSink;
  /** Where the request offers an upgrade: goes over to that and joins the answer; resolves when it is over. */
  upgrade?(response: ApiResponse, answer: UpgradeAnswer): Promise<void>;
}

export interface ExchangeSink extends StreamSink {
  onClose(listener: () => void): void;
  /** Resolves when the client has taken enough for more to be written, or is gone. */
  drained(): Promise<void>;
  /** Ends the stream so that the client sees that it is not whole. */
  breakOff(): void;
}

/** Answers one exchange; resolves when the answer, or the stream, is over. Never throws: the handler turns failures into answers. */
export async function serveExchange(exchange: Exchange, handler: ApiHandler): Promise<void> {
  const response = await handler(exchange.request);
  const { body } = response;
  switch (body.kind) {
    case 'bytes':
      return sendBytes(exchange, response, body.chunks);
    case 'pull':
      return sendChunks(exchange, response, body.chunks);
    case 'upgrade':
      return upgradeTo(exchange, response, body);
    case 'stream':
  }
  if (exchange.isGone) return;
  const sink = exchange.openStream(response);
  const running = body.start(sink);
  exchange.request.signal.addEventListener('abort', () => sink.end(), { once: true });
  await new Promise<void>((resolve) => sink.onClose(resolve));
  running.dispose();
}

async function upgradeTo(
  exchange: Exchange,
  response: ApiResponse,
  { answer, onEnd }: Extract<ApiResponse['body'], { kind: 'upgrade' }>,
): Promise<void> {
  exchange.deadline.lift();
  try {
    if (exchange.upgrade) await exchange.upgrade(response, answer);
    else if ('stream' in answer) answer.stream.dispose();
  } finally {
    onEnd?.();
  }
}

/** The source is closed whichever side ends first. */
async function sendChunks(
  exchange: Exchange,
  response: ApiResponse,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  exchange.deadline.lift();
  const { signal } = exchange.request;
  const sink = exchange.isGone ? undefined : exchange.openStream(response);
  const closed = new Promise<void>((resolve) => (sink ? sink.onClose(resolve) : resolve()));
  try {
    for await (const chunk of chunks) {
      if (!sink || signal.aborted) break;
      // A view of its own: the frames of what is written are remembered by it.
      sink.write(chunk.subarray());
      await sink.drained();
    }
    if (signal.aborted) sink?.breakOff();
    else sink?.end();
  } catch {
    // The head is out: that the connection breaks off is all that can be said.
    sink?.breakOff();
  }
  await closed;
}

async function sendBytes(
  exchange: Exchange,
  response: ApiResponse,
  chunks: readonly Uint8Array[],
): Promise<void> {
  const body = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
  const isPacked = response.headers['content-encoding'] !== undefined;
  if (isPacked || !isWorthCompressing(exchange.request, body)) {
    if (!exchange.isGone) exchange.sendBytes(response, body);
    return;
  }
  const smaller = await compressed(body);
  response.headers['content-encoding'] = 'gzip';
  response.headers['vary'] ??= 'Accept-Encoding';
  if (!exchange.isGone) exchange.sendBytes(response, smaller);
}
