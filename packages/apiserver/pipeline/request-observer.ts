import type { UpgradeAnswer } from '@sheaf/api';
import { type DuplexStream, disposable } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import type { ApiRequest, ApiResponse, ResponseBody, StreamSink } from './api-request.ts';
import type { RequestInfo } from './request-info.ts';

/** Sees every request from its begin to its answer: audit log and metrics. Must not throw and must be cheap. */
export interface RequestObserver {
  begin(begun: { readonly auditId: string; readonly request: ApiRequest }): RequestObservation;
}

export interface RequestObservation {
  /** The request to go on with, where the observer wants to see its body. */
  readonly request?: ApiRequest;
  annotate(key: string, value: string): void;
  /**
   * Called when the answer is known; for a stream, when it begins. What it returns for a stream is told of every chunk and of the
   * end.
   */
  end(result: ObservedResult): StreamObservation | undefined;
}

export interface StreamObservation {
  chunk(bytes: number): void;
  ended(): void;
}

export interface ObservedResult {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  /** Who the request was done as. */
  readonly user: User;
  /** Who asked, where that is someone else. */
  readonly impersonator: User | undefined;
  readonly response: ApiResponse;
}

const ignoringObservation: RequestObservation = {
  annotate() {},
  end() {
    return undefined;
  },
};

export const ignoringObserver: RequestObserver = {
  begin() {
    return ignoringObservation;
  },
};

/** Tells several observers. */
export function joinedObserver(observers: readonly RequestObserver[]): RequestObserver {
  const [only] = observers;
  if (observers.length === 1 && only) return only;
  return {
    begin(begun) {
      let { request } = begun;
      const observations = observers.map((observer) => {
        const observation = observer.begin({ ...begun, request });
        request = observation.request ?? request;
        return observation;
      });
      return {
        request,
        annotate(key, value) {
          for (const observation of observations) observation.annotate(key, value);
        },
        end(result) {
          const streams = observations.flatMap((observation) => observation.end(result) ?? []);
          return streams.length === 0 ? undefined : joinedStream(streams);
        },
      };
    },
  };
}

function joinedStream(streams: readonly StreamObservation[]): StreamObservation {
  return {
    chunk(bytes) {
      for (const stream of streams) stream.chunk(bytes);
    },
    ended() {
      for (const stream of streams) stream.ended();
    },
  };
}

/** The same body, watched on its way. */
export function observedBody(body: ResponseBody, observation: StreamObservation): ResponseBody {
  switch (body.kind) {
    case 'bytes':
      return body;
    case 'stream':
      return observedStream(body, observation);
    case 'pull':
      return { kind: 'pull', chunks: observedChunks(body.chunks, observation) };
    case 'upgrade':
      return observedUpgrade(body.answer, observation);
  }
}

async function* observedChunks(
  chunks: AsyncIterable<Uint8Array>,
  observation: StreamObservation,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } finally {
    observation.ended();
  }
}

/** What goes through a connection of someone's own is nobody's business; that it ends is. */
function observedUpgrade(answer: UpgradeAnswer, observation: StreamObservation): ResponseBody {
  switch (answer.kind) {
    case 'bytes':
      return {
        kind: 'upgrade',
        answer: { kind: 'bytes', stream: observedDuplex(answer.stream, observation) },
      };
    case 'messages':
      return {
        kind: 'upgrade',
        answer: { kind: 'messages', stream: observedDuplex(answer.stream, observation) },
      };
    case 'process':
    case 'ports':
    case 'relay':
      return { kind: 'upgrade', answer, onEnd: () => observation.ended() };
  }
}

function observedDuplex<T>(stream: DuplexStream<T>, observation: StreamObservation): DuplexStream<T> {
  const ended = disposable(() => observation.ended());
  return {
    readable: stream.readable,
    write: (item) => stream.write(item),
    ...(stream.end ? { end: stream.end.bind(stream) } : {}),
    dispose() {
      stream.dispose();
      ended.dispose();
    },
  };
}

function observedStream(
  body: Extract<ResponseBody, { kind: 'stream' }>,
  observation: StreamObservation,
): ResponseBody {
  return {
    kind: 'stream',
    start(sink) {
      const running = body.start(observedSink(sink, observation));
      let isOver = false;
      return {
        dispose() {
          running.dispose();
          if (!isOver) observation.ended();
          isOver = true;
        },
      };
    },
  };
}

function observedSink(sink: StreamSink, observation: StreamObservation): StreamSink {
  return {
    write(chunk) {
      observation.chunk(chunk.length);
      sink.write(chunk);
    },
    get queuedBytes() {
      return sink.queuedBytes;
    },
    end: () => sink.end(),
  };
}
