import { type Connection, connect, type Protocol } from '../client/connection.ts';
import type { MeasuredServer } from '../measure/server.ts';
import type { Record } from '../report/measure.ts';
import type { Sizes } from '../sizes.ts';
import { closedLoop, type LoopResult } from './closed-loop.ts';
import { deleteUntilEmpty, itemBody, itemName, itemsPath, prepareNamespace } from './resource.ts';

export interface Round {
  readonly server: MeasuredServer;
  readonly protocol: Protocol;
  readonly sizes: Sizes;
  /** A namespace that no earlier round has used. */
  readonly namespace: string;
  readonly record: Record;
}

/** Requests per second and processor time per request for create, get, patch and apply, at each number of clients. */
export async function measureRequests(round: Round): Promise<void> {
  const { server, protocol, sizes, namespace } = round;
  const control = await connect(server.target, 'http/1.1');
  await prepareNamespace(control, namespace);
  control.close();
  const path = itemsPath(namespace);
  let created = 0;
  for (const { clients, total } of sizes.loops) {
    const connections = await openConnections(round, protocol === 'h2' ? 1 : clients);
    const first = created;
    created += total;
    const name = (index: number): string => itemName(first + index);
    const run = async (
      operation: string,
      request: Parameters<typeof closedLoop>[0]['request'],
    ): Promise<void> => {
      const pids = server.pids();
      recordLoop(
        round,
        `${operation}, ${clients} clients`,
        await closedLoop({ connections, clients, total, pids, request }),
      );
    };
    await run('create', (index) => ({ method: 'POST', path, body: itemBody(name(index), '0') }));
    await run('get', (index) => ({ method: 'GET', path: `${path}/${name(index)}` }));
    await run('patch', (index) => ({
      method: 'PATCH',
      path: `${path}/${name(index)}`,
      contentType: 'application/merge-patch+json',
      body: `{"spec":{"stamp":"${index}-${clients}"}}`,
    }));
    await run('apply', (index) => ({
      method: 'PATCH',
      path: `${path}/${name(index)}?fieldManager=bench&force=true`,
      contentType: 'application/apply-patch+yaml',
      body: itemBody(name(index), `applied-${clients}`),
    }));
    for (const connection of connections) connection.close();
  }
  await deleteUntilEmpty(server.target, path);
}

export function openConnections(round: Round, count: number): Promise<readonly Connection[]> {
  return Promise.all(Array.from({ length: count }, () => connect(round.server.target, round.protocol)));
}

function recordLoop(round: Round, name: string, result: LoopResult): void {
  round.record({ name, unit: 'requests/s', better: 'higher', value: result.perSecond });
  round.record({ name, unit: 'CPU ms/request', better: 'lower', value: result.cpuMilliseconds });
  round.record({ name, unit: 'p50 ms', better: 'lower', value: result.p50, detail: true });
  round.record({ name, unit: 'p99 ms', better: 'lower', value: result.p99, detail: true });
}
