import { type Clock, isJsonObject, type JsonObject } from '@sheaf/base';

/** The part of `fetch` that authenticators need; injected, so that tests and proxies decide what is reached. */
export type HttpFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal: AbortSignal;
    readonly redirect: 'error' | 'follow';
  },
) => Promise<HttpFetchResponse>;

export interface HttpFetchResponse {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array> | null;
}

export interface FetchJsonOptions {
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Sent with POST as JSON. */
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const maximumBytes = 1024 * 1024;

/** Asks for a JSON object; @throws Error on failure, lateness, another status than 2xx, or a body beyond 1 MiB */
export async function fetchJson(url: string, options: FetchJsonOptions): Promise<JsonObject> {
  const deadline = new AbortController();
  const timer = options.clock.schedule(options.timeoutMs, () =>
    deadline.abort(new Error(`no answer from ${url} in time`)),
  );
  const signal = options.signal ? AbortSignal.any([deadline.signal, options.signal]) : deadline.signal;
  try {
    const response = await options.fetch(url, {
      method: options.body ? 'POST' : 'GET',
      headers: {
        accept: 'application/json',
        ...(options.body && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body && { body: JSON.stringify(options.body) }),
      signal,
      redirect: 'error',
    });
    if (response.status < 200 || response.status > 299) throw new Error(`${url} answered ${response.status}`);
    const value: unknown = JSON.parse(await readText(response.body));
    if (!isJsonObject(value)) throw new Error(`${url} did not answer a JSON object`);
    return value;
  } finally {
    timer.dispose();
  }
}

async function readText(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > maximumBytes) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
