import type { Connection, Request } from '../client/connection.ts';
import { cpuMilliseconds } from '../measure/process-usage.ts';
import { quantile } from '../measure/statistics.ts';

export interface LoopOptions {
  /** One per client for HTTP/1.1, one for all for HTTP/2. */
  readonly connections: readonly Connection[];
  readonly clients: number;
  readonly total: number;
  readonly pids: readonly number[];
  readonly request: (index: number) => Request;
}

export interface LoopResult {
  readonly perSecond: number;
  /** Of the server's processes, per request; NaN when their ids are not known. */
  readonly cpuMilliseconds: number;
  readonly p50: number;
  readonly p99: number;
}

/** Clients that each send their next request when the last is answered, until `total` are done. Any refusal is an error. */
export async function closedLoop(options: LoopOptions): Promise<LoopResult> {
  const latencies: number[] = [];
  let next = 0;
  const client = async (connection: Connection): Promise<void> => {
    while (next < options.total) {
      const request = options.request(next++);
      const sent = performance.now();
      const answer = await connection.request(request);
      latencies.push(performance.now() - sent);
      if (answer.status >= 400)
        throw new Error(`${request.method} ${request.path}: ${answer.body.toString()}`);
    }
  };
  const cpu = cpuMilliseconds(options.pids);
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: options.clients }, (_, index) => {
      const connection = options.connections[index % options.connections.length];
      if (connection === undefined) throw new Error('no connection');
      return client(connection);
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  const used = options.pids.length === 0 ? Number.NaN : cpuMilliseconds(options.pids) - cpu;
  return {
    perSecond: options.total / seconds,
    cpuMilliseconds: used / options.total,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
}
