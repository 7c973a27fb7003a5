import { type Clock, isJsonObject, type JsonObject } from '@sheaf/base';
import type { Upstream, UpstreamTarget } from '../upstream/upstream.ts';

export interface RemoteReader {
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** Ends all reading. */
  readonly signal: AbortSignal;
}

const timeoutMs = 5000;
const limitBytes = 4 * 1024 * 1024;

/** A document of an aggregated server, asked for in this server's own name. @throws Error if there is no good answer in time */
export async function readRemoteDocument(
  { upstream, clock, signal }: RemoteReader,
  target: UpstreamTarget,
  path: string,
): Promise<JsonObject> {
  const patience = new AbortController();
  const timer = clock.schedule(timeoutMs, () => patience.abort(new Error('no answer in time')));
  try {
    const headers = {
      accept: 'application/json',
      'x-remote-user': 'system:kube-aggregator',
      'x-remote-group': 'system:masters',
    };
    const response = await upstream.call(target, {
      method: 'GET',
      target: path,
      headers,
      body: new Uint8Array(),
      signal: AbortSignal.any([patience.signal, signal]),
    });
    if (response.status !== 200) throw new Error(`bad status: ${response.status}`);
    return await readAll(response.chunks);
  } finally {
    timer.dispose();
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<JsonObject> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > limitBytes) throw new Error('its discovery document is too large');
    parts.push(chunk);
  }
  const parsed: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
  if (!isJsonObject(parsed)) throw new Error('its discovery document is not an object');
  return parsed;
}
