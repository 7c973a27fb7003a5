import type { ProcessAnswer } from '@sheaf/api';
import type { ByteStream, Clock } from '@sheaf/base';
import { SpdySession } from '../spdy/spdy-session.ts';
import type { SpdyStream } from '../spdy/spdy-stream.ts';
import { outcomeText } from './outcome-text.ts';
import { type ClientStreams, joinProcess } from './process-session.ts';

/** A client opens all of its streams within this time. */
const openMs = 30_000;
/** A client that has all it wanted ends the connection; one that does not is ended after this time. */
const leaveMs = 5000;

type StreamName = 'stdin' | 'stdout' | 'stderr' | 'error' | 'resize';

export interface SpdyOptions {
  readonly clock: Clock;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
  readonly protocol: string | undefined;
}

/** A process over SPDY, each of whose streams is one of the session. Resolves when both are over. */
export async function serveProcess(
  transport: ByteStream,
  answer: ProcessAnswer,
  { clock, signal, protocol }: SpdyOptions,
): Promise<void> {
  const wanted = wantedStreams(answer, protocol);
  const streams = new Map<StreamName, SpdyStream>();
  const complete = Promise.withResolvers<boolean>();
  const session = new SpdySession(transport, {
    clock,
    onStream(stream) {
      const name = wanted.find((item) => item === stream.headers.get('streamtype'));
      if (name === undefined || streams.has(name)) return false;
      streams.set(name, stream);
      if (name !== 'stdin' && name !== 'resize') stream.ignore();
      if (streams.size === wanted.length) complete.resolve(true);
      return true;
    },
  });
  const patience = clock.schedule(openMs, () => complete.resolve(false));
  void session.closed.then(() => complete.resolve(false));
  const isComplete = await complete.promise;
  patience.dispose();
  if (isComplete) {
    const both = AbortSignal.any([signal, session.signal]);
    await joinProcess(answer, clientOf(streams, protocol), both);
    for (const name of ['stdin', 'resize'] as const) streams.get(name)?.ignore();
    await waitForLeave(session, clock);
  }
  await session.end();
  session.dispose();
}

function wantedStreams({ streams }: ProcessAnswer, protocol: string | undefined): readonly StreamName[] {
  const hasSizes = /^v[3-9]\./.test(protocol ?? '');
  const isWanted: Readonly<Record<StreamName, boolean>> = {
    error: true,
    stdin: streams.stdin,
    stdout: streams.stdout,
    stderr: streams.stderr,
    resize: streams.terminal && hasSizes,
  };
  return (['error', 'stdin', 'stdout', 'stderr', 'resize'] as const).filter((name) => isWanted[name]);
}

function clientOf(streams: ReadonlyMap<StreamName, SpdyStream>, protocol: string | undefined): ClientStreams {
  return {
    input: streams.get('stdin')?.readable ?? none(),
    sizes: streams.get('resize')?.readable ?? none(),
    write: async (name, bytes) => await streams.get(name)?.write(bytes),
    async tell(outcome) {
      const text = outcomeText(outcome, protocol);
      for (const name of ['stdout', 'stderr'] as const) await streams.get(name)?.end();
      const error = streams.get('error');
      if (text !== '') await error?.write(Buffer.from(text));
      await error?.end();
    },
  };
}

async function waitForLeave(session: SpdySession, clock: Clock): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = clock.schedule(leaveMs, () => limit.resolve());
  await Promise.race([session.closed, limit.promise]);
  timer.dispose();
}

async function* none(): AsyncGenerator<Uint8Array> {
  // A stream that was not asked for.
}
