import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSheaf } from '../../tests/sheaf-process.ts';
import { connect } from '../client/connection.ts';
import { readKubeconfig, type Target } from '../client/kubeconfig.ts';
import { peerOptionsFrom } from '../peer/locate.ts';
import { startPeer } from '../peer/peer.ts';

/** An API server that is measured. One that the bench has started can be restarted; one that was given cannot. */
export interface MeasuredServer {
  readonly name: 'peer' | 'subject';
  readonly target: Target;
  pids(): readonly number[];
  /** Milliseconds from the start of the processes to `/readyz`; absent for a given server. */
  readonly startMilliseconds?: number;
  /** Stops and starts on the same data; answers the milliseconds of the second half. */
  readonly restart?: () => Promise<number>;
  stop(): Promise<void>;
}

export interface ServerRequest {
  readonly name: 'peer' | 'subject';
  /** A kubeconfig, or `start`: start one in `directory`. */
  readonly from: string;
  readonly pids: readonly number[];
  readonly directory: string;
}

export async function openServer(request: ServerRequest): Promise<MeasuredServer> {
  if (request.from !== 'start') {
    return {
      name: request.name,
      target: await readKubeconfig(request.from),
      pids: () => request.pids,
      stop: async () => undefined,
    };
  }
  return request.name === 'peer' ? openPeer(request.directory) : openSubject(request.directory);
}

async function openPeer(directory: string): Promise<MeasuredServer> {
  const peer = await startPeer(peerOptionsFrom({ directory: join(directory, 'peer') }));
  return {
    name: 'peer',
    target: await readKubeconfig(peer.kubeconfig),
    pids: peer.pids,
    startMilliseconds: peer.startMilliseconds,
    restart: peer.restart,
    stop: peer.stop,
  };
}

async function openSubject(directory: string): Promise<MeasuredServer> {
  const options = { directory: join(directory, 'subject') };
  const begun = performance.now();
  let sheaf = await startSheaf(options);
  const target = await readKubeconfig(sheaf.kubeconfig);
  await untilReady(target);
  const startMilliseconds = performance.now() - begun;
  return {
    name: 'subject',
    target,
    pids: () => [sheaf.pid],
    startMilliseconds,
    restart: async () => {
      await sheaf.stop();
      const again = performance.now();
      sheaf = await startSheaf({ ...options, listen: `${target.host}:${target.port}` });
      await untilReady(target);
      return performance.now() - again;
    },
    stop: () => sheaf.stop(),
  };
}

async function untilReady(target: Target): Promise<void> {
  const connection = await connect(target, 'http/1.1');
  while ((await connection.request({ method: 'GET', path: '/readyz' })).status !== 200) await delay(10);
  connection.close();
}
