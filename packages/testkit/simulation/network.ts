import { type Random, StatusError } from '@sheaf/base';
import type { ClientRequest, ClientResponse, InProcessUser, Transport } from '@sheaf/client';
import type { NearServer } from './near-server.ts';
import type { Scheduler } from './scheduler.ts';
import { ValueStream } from './value-stream.ts';

/** How often each fault happens, of 1000 chances. */
export interface NetworkFaults {
  /** A request does not reach the server. */
  readonly lostRequest: number;
  /** A request is carried out, but its answer does not come back. */
  readonly lostAnswer: number;
  /** A request is carried out twice. */
  readonly duplicated: number;
  /** The server is busy. */
  readonly refused: number;
  /** A watch breaks off before an event. */
  readonly brokenWatch: number;
  /** A watch is told that its version is too old. */
  readonly expiredWatch: number;
  /** A change is refused because someone else was first. */
  readonly conflict: number;
  /** A watch tells an event again. */
  readonly repeatedEvent: number;
}

export const noFaults: NetworkFaults = {
  lostRequest: 0,
  lostAnswer: 0,
  duplicated: 0,
  refused: 0,
  brokenWatch: 0,
  expiredWatch: 0,
  conflict: 0,
  repeatedEvent: 0,
};

/** Sees each request that a simulated client has got carried out, around its execution. `isLate`: who sent it has died since. */
export type RequestWitness = (
  request: ClientRequest,
  sender: { readonly isLate: boolean },
) => ((status: number) => void) | undefined;

/** What becomes of a request on its way. */
export type RequestTamper = (request: ClientRequest) => ClientRequest;

export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** The way to the server of now, without faults. */
  readonly transport: (user: InProcessUser) => Transport;
  /** Whether that way carries values. */
  readonly carriesValues: boolean;
  /** The server of now, if it answers without waiting. */
  readonly near: () => NearServer | undefined;
  readonly witness: RequestWitness;
  readonly tamper: RequestTamper;
}

/** Carries requests and answers, each when the scheduler says so, some not, some twice. */
export class SimulatedNetwork {
  faults: NetworkFaults = noFaults;
  /** These are answered at once, as if no time passed until then. */
  isAtOnce: (request: ClientRequest) => boolean = () => false;
  /** Whether a watch tells all that it has to tell in one step. */
  tellsAllAtOnce = false;
  readonly #options: NetworkOptions;
  #lanes = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** A way to the server for one life of a program. `close` is its death: nothing comes back any more. */
  transport(owner: string, user: InProcessUser): Transport {
    const life: Life = { owner, user, isOver: false, streams: new Set(), waiting: new Map() };
    return {
      carriesValues: this.#options.carriesValues,
      send: (request) => this.#send(life, request),
      close: () => {
        life.isOver = true;
        // The dead are not told: they would only find out that they are.
        for (const { leave } of life.streams) leave();
        life.streams.clear();
      },
    };
  }

  #send(life: Life, request: ClientRequest): Promise<ClientResponse> {
    const { scheduler } = this.#options;
    return new Promise((resolve, reject) => {
      if (life.isOver) return;
      const lane = `${life.owner}#${++this.#lanes}`;
      const waiting = waitingFor(life, request.signal);
      const settle: Settle = {
        resolve(response) {
          waiting?.delete(settle);
          if (!life.isOver) resolve(response);
        },
        reject(error) {
          waiting?.delete(settle);
          if (!life.isOver) reject(error);
        },
      };
      waiting?.add(settle);
      if (this.isAtOnce(request)) return this.#answerAtOnce({ life, lane, settle }, request);
      // A request on its way may arrive even after the one who sent it has died.
      scheduler.add(lane, `${request.method} ${request.target}`, () =>
        this.#arrive({ life, lane, settle }, request),
      );
    });
  }

  #answerAtOnce(call: Call, request: ClientRequest): void {
    const { life, settle } = call;
    if (isWatch(request)) return this.#openWatch(call, request, (_label, run) => run());
    const near = request.method === 'GET' ? this.#options.near() : undefined;
    if (near) return settle.resolve(near.read(request));
    this.#execute(life, request, 1).then(settle.resolve, settle.reject);
  }

  #arrive(call: Call, request: ClientRequest): void {
    const { life, lane, settle } = call;
    if (request.signal?.aborted) return;
    if (this.#happens('lostRequest')) return settle.reject(new Error('connection lost'));
    if (this.#happens('refused')) return settle.resolve(busy());
    if (isChange(request) && this.#happens('conflict')) return settle.resolve(tooLate());
    if (isWatch(request)) {
      const { scheduler } = this.#options;
      if (!life.isOver) this.#openWatch(call, request, (label, run) => scheduler.add(lane, label, run));
      return;
    }
    const runs = this.#happens('duplicated') ? 2 : 1;
    const isLost = this.#happens('lostAnswer');
    this.#execute(life, request, runs).then(
      (response) =>
        this.#options.scheduler.add(lane, `answers ${response.status}`, () =>
          isLost ? settle.reject(new Error('connection lost')) : settle.resolve(response),
        ),
      (error: Error) => this.#options.scheduler.add(lane, 'fails', () => settle.reject(error)),
    );
  }

  /** All at once: what the server does within one request is its own matter. */
  async #execute({ user, isOver }: Life, sent: ClientRequest, runs: number): Promise<ClientResponse> {
    const near = sent.method === 'GET' ? this.#options.near() : undefined;
    if (near) return near.read(sent);
    const request = this.#options.tamper(sent);
    const { signal: _unused, ...rest } = request;
    const seen = this.#options.witness(request, { isLate: isOver });
    const direct = this.#options.transport(user);
    const first = await direct.send(rest);
    seen?.(first.status);
    const response = runs === 1 ? first : await direct.send(rest);
    if (response.value !== undefined) return response;
    const text = await response.text();
    return { ...response, text: () => Promise.resolve(text) };
  }

  #openWatch(call: Call, request: ClientRequest, answer: Answering): void {
    const { life, lane } = call;
    const { scheduler } = this.#options;
    const out = new ValueStream<unknown>();
    const waiting: unknown[] = [];
    let stopSource = (): void => undefined;
    const leave = (): void => {
      stopSource();
      scheduler.drop(lane);
    };
    const watch: Watch = {
      leave,
      stop: () => {
        leave();
        out.end(new Error('connection reset'));
        life.streams.delete(watch);
      },
      out,
      tell: (event) => {
        waiting.push(event);
        if (this.tellsAllAtOnce && waiting.length > 1) return;
        scheduler.add(lane, 'event', () => this.#deliver(waiting, watch));
      },
    };
    life.streams.add(watch);
    request.signal?.addEventListener('abort', () => watch.stop(), { once: true });
    stopSource = this.#beginWatch(call, request, { watch, answer });
  }

  /** Returns how it is ended. */
  #beginWatch(
    { life, lane, settle }: Call,
    request: ClientRequest,
    { watch, answer }: { readonly watch: Watch; readonly answer: Answering },
  ): () => void {
    const { scheduler } = this.#options;
    const near = this.#options.near();
    if (near) {
      const values = (): AsyncIterable<unknown> => watch.out.values();
      // What has happened before is told after the answer: a watch that breaks off before its answer would never be heard of.
      const early: unknown[] = [];
      let isAnswered = false;
      const tell = (event: unknown): void => (isAnswered ? watch.tell(event) : void early.push(event));
      const { response, stop } = near.watch(request, tell);
      answer(`watches ${response.status}`, () => settle.resolve({ ...response, values }));
      isAnswered = true;
      for (const event of early) watch.tell(event);
      return stop;
    }
    const lines = (): AsyncIterable<string> => watch.out.values() as AsyncIterable<string>;
    const stopped = new AbortController();
    const direct = this.#options.transport(life.user);
    direct.send({ ...request, signal: stopped.signal }).then(
      (response) => {
        answer(`watches ${response.status}`, () => settle.resolve({ ...response, lines }));
        void pump(response, watch, () => scheduler.add(lane, 'ends', () => watch.out.end()));
      },
      (error: Error) => answer('fails', () => settle.reject(error)),
    );
    return () => stopped.abort(new Error('the watch is over'));
  }

  #deliver(waiting: unknown[], { out, stop }: Watch): void {
    const count = this.tellsAllAtOnce ? waiting.length : 1;
    for (const event of waiting.splice(0, count)) {
      if (this.#happens('brokenWatch')) return stop();
      this.#tell(event, out);
      if (out.isEnded) return;
    }
  }

  #tell(event: unknown, out: ValueStream<unknown>): void {
    if (this.#happens('repeatedEvent')) out.push(event);
    if (!this.#happens('expiredWatch')) return out.push(event);
    const status = new StatusError({ reason: 'Expired', message: 'too old resource version' }).toStatus();
    const last = { type: 'ERROR', object: status };
    out.push(this.#options.carriesValues ? last : JSON.stringify(last));
    out.end();
  }

  #happens(fault: keyof NetworkFaults): boolean {
    const chance = this.faults[fault];
    return chance > 0 && this.#options.random.integer(1000) < chance;
  }
}

interface Life {
  readonly owner: string;
  readonly user: InProcessUser;
  isOver: boolean;
  readonly streams: Set<Watch>;
  /** Who waits for an answer, by the signal that ends the waiting. */
  readonly waiting: Map<AbortSignal, Set<Settle>>;
}

/** One signal listens for all that wait with it. */
function waitingFor(life: Life, signal: AbortSignal | undefined): Set<Settle> | undefined {
  if (!signal) return undefined;
  let waiting = life.waiting.get(signal);
  if (!waiting) {
    const all = new Set<Settle>();
    waiting = all;
    life.waiting.set(signal, all);
    const abort = (): void => {
      for (const { reject } of all) reject(reasonOf(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
  }
  return waiting;
}

interface Watch {
  /** Nothing is told any more, not even that. */
  readonly leave: () => void;
  readonly stop: () => void;
  readonly out: ValueStream<unknown>;
  /** Takes an event from the server; it arrives when it is chosen. */
  readonly tell: (event: unknown) => void;
}

async function pump(response: ClientResponse, { tell, out }: Watch, onEnd: () => void): Promise<void> {
  try {
    for await (const line of response.lines()) tell(line);
    onEnd();
  } catch {
    // Stopped by one of us.
    out.end(new Error('connection reset'));
  }
}

interface Settle {
  resolve(response: ClientResponse): void;
  reject(error: Error): void;
}

interface Call {
  readonly life: Life;
  readonly lane: string;
  readonly settle: Settle;
}

/** How the answer to a request comes back. */
type Answering = (label: string, run: () => void) => void;

function busy(): ClientResponse {
  return refusal(new StatusError({ reason: 'ServiceUnavailable', message: 'the server is busy' }));
}

function tooLate(): ClientResponse {
  const message =
    'Operation cannot be fulfilled: the object has been modified; apply your changes to it as it is now';
  return refusal(new StatusError({ reason: 'Conflict', message }));
}

function isWatch({ target }: ClientRequest): boolean {
  return target.includes('watch=true');
}

function isChange({ method }: ClientRequest): boolean {
  return method === 'PUT' || method === 'PATCH';
}

function refusal(error: StatusError): ClientResponse {
  const text = JSON.stringify(error.toStatus());
  return {
    status: error.code,
    headers: {},
    text: () => Promise.resolve(text),
    lines: () => new ValueStream<string>().values(),
  };
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted');
}
