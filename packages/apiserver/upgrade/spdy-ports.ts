import type { PortsAnswer } from '@sheaf/api';
import type { ByteStream, Clock, Disposable } from '@sheaf/base';
import { SpdySession } from '../spdy/spdy-session.ts';
import type { SpdyStream } from '../spdy/spdy-stream.ts';
import { joinPort } from './port-session.ts';

/** A client that has opened one stream of a connection opens the other within this time. */
const pairMs = 30_000;

interface HalfPair extends Disposable {
  readonly stream: SpdyStream;
}

/** Connections to ports, each a stream for its bytes and one for what goes wrong. Resolves when the client is gone. */
export async function servePorts(
  transport: ByteStream,
  answer: PortsAnswer,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const pairs = new PortPairs(clock, (port, data, errors) => {
    void serveOne(answer, { port, data, errors }, AbortSignal.any([signal, session.signal]));
  });
  const session = new SpdySession(transport, { clock, onStream: (stream) => pairs.take(stream) });
  const onStop = (): void => void session.end().then(() => session.dispose());
  signal.addEventListener('abort', onStop, { once: true });
  if (signal.aborted) onStop();
  await session.closed;
  signal.removeEventListener('abort', onStop);
  pairs.dispose();
}

interface PortStreams {
  readonly port: number;
  readonly data: SpdyStream;
  readonly errors: SpdyStream;
}

async function serveOne(
  answer: PortsAnswer,
  { port, data, errors }: PortStreams,
  signal: AbortSignal,
): Promise<void> {
  errors.ignore();
  const fail = (words: string): Promise<void> => errors.write(Buffer.from(words));
  await joinPort(answer, { port, data, fail }, signal);
  try {
    await errors.end();
    await data.end();
  } catch {
    // The client is gone.
  }
  data.ignore();
}

type OnPair = (port: number, data: SpdyStream, errors: SpdyStream) => void;

/** Finds the two streams of each connection; they may come in either order. */
class PortPairs implements Disposable {
  readonly #halves = new Map<string, HalfPair>();
  readonly #clock: Clock;
  readonly #onPair: OnPair;

  constructor(clock: Clock, onPair: OnPair) {
    this.#clock = clock;
    this.#onPair = onPair;
  }

  /** False for one that belongs to no connection. */
  take(stream: SpdyStream): boolean {
    const kind = stream.headers.get('streamtype');
    const port = portOf(stream);
    if (port === undefined || (kind !== 'data' && kind !== 'error')) return false;
    const request = stream.headers.get('requestid') ?? `port ${port}`;
    const other = this.#halves.get(request);
    if (!other) {
      this.#keep(request, stream);
      return true;
    }
    if (other.stream.headers.get('streamtype') === kind || portOf(other.stream) !== port) return false;
    this.#halves.delete(request);
    other.dispose();
    const [data, errors] = kind === 'data' ? [stream, other.stream] : [other.stream, stream];
    this.#onPair(port, data, errors);
    return true;
  }

  dispose(): void {
    for (const half of this.#halves.values()) half.dispose();
    this.#halves.clear();
  }

  #keep(request: string, stream: SpdyStream): void {
    const timer = this.#clock.schedule(pairMs, () => {
      this.#halves.delete(request);
      stream.dispose();
    });
    this.#halves.set(request, { stream, dispose: () => timer.dispose() });
  }
}

function portOf({ headers }: SpdyStream): number | undefined {
  const text = headers.get('port') ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : undefined;
}
