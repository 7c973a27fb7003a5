import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, connect } from '../client/connection.ts';
import { cpuMilliseconds } from '../measure/process-usage.ts';
import { quantile } from '../measure/statistics.ts';
import { openConnections, type Round } from './requests.ts';
import { expectSuccess, itemBody, itemName, itemsPath } from './resource.ts';

const marker = Buffer.from('"stamp":"');
const stampLength = 16;

/** Finds the time stamps in a watch stream without parsing the objects. */
function stampReader(onStamp: (sent: number) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let position = 0;
    for (;;) {
      const found = data.indexOf(marker, position);
      const end = found + marker.length + stampLength;
      if (found < 0 || end > data.length) {
        const keep = found < 0 ? Math.max(position, data.length - marker.length) : found;
        rest = Buffer.from(data.subarray(keep));
        return;
      }
      const sent = Number(data.toString('latin1', found + marker.length, end));
      if (sent > 1) onStamp(sent);
      position = end;
    }
  };
}

function stamp(): string {
  return performance.now().toFixed(3).padStart(stampLength, '0');
}

/** Delay from sending a write to its event, for many watchers of one namespace while writes come at an even rate. */
export async function measureFanOut(round: Round): Promise<void> {
  const { sizes, server } = round;
  const delays: number[] = [];
  const closeWatchers = await openWatchers(round, (sent) => delays.push(performance.now() - sent));
  const total = sizes.writesPerSecond * sizes.watchSeconds;
  const pids = server.pids();
  const cpu = cpuMilliseconds(pids);
  const begun = performance.now();
  await writeEvenly(round, total);
  const seconds = (performance.now() - begun) / 1000;
  await untilQuiet(delays, total * sizes.watchers);
  const used = pids.length === 0 ? Number.NaN : cpuMilliseconds(pids) - cpu;
  closeWatchers();
  const name = `${sizes.watchers} watchers, ${sizes.writesPerSecond} writes/s`;
  round.record({ name, unit: 'p50 ms', better: 'lower', value: quantile(delays, 0.5) });
  round.record({ name, unit: 'p99 ms', better: 'lower', value: quantile(delays, 0.99) });
  round.record({ name, unit: 'CPU ms/write', better: 'lower', value: used / total });
  round.record({ name, unit: 'events', better: 'higher', value: delays.length, detail: true });
  round.record({ name, unit: 'writes/s reached', better: 'higher', value: total / seconds, detail: true });
}

async function openWatchers(round: Round, onStamp: (sent: number) => void): Promise<() => void> {
  const { sizes, protocol, namespace } = round;
  const path = `${itemsPath(namespace)}?watch=1&resourceVersion=${await newest(round)}`;
  const connections = await openConnections(round, protocol === 'h2' ? 1 : sizes.watchers);
  // All at once: servers drop connections that stay silent.
  const open = async (index: number): Promise<void> => {
    await connections[index % connections.length]?.stream({ method: 'GET', path }, stampReader(onStamp));
  };
  await Promise.all(Array.from({ length: sizes.watchers }, (_, index) => open(index)));
  return () => {
    for (const connection of connections) connection.close();
  };
}

/** Writes at the wanted rate. When every writer is still waiting for an answer the rate drops, which the figures show. */
async function writeEvenly(round: Round, total: number): Promise<void> {
  const { sizes, protocol, namespace } = round;
  const connections = await openConnections(round, protocol === 'h2' ? 1 : 16);
  const begun = performance.now();
  let next = 0;
  const writer = async (connection: Connection | undefined): Promise<void> => {
    while (next < total) {
      const index = next++;
      const wait = begun + (index * 1000) / sizes.writesPerSecond - performance.now();
      if (wait > 0) await delay(wait);
      const path = `${itemsPath(namespace)}/${itemName(index % 100)}`;
      const contentType = 'application/merge-patch+json';
      const body = `{"spec":{"stamp":"${stamp()}"}}`;
      if (connection !== undefined)
        await expectSuccess(connection, { method: 'PATCH', path, contentType, body });
    }
  };
  await Promise.all(
    Array.from({ length: 16 }, (_, index) => writer(connections[index % connections.length])),
  );
  for (const connection of connections) connection.close();
}

async function untilQuiet(delays: readonly number[], expected: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (delays.length < expected && performance.now() < deadline) await delay(20);
}

/** The version of the collection as a whole, from which a watch shows only what comes. */
async function newest(round: Round): Promise<string> {
  const connection = await connect(round.server.target, 'http/1.1');
  const body = await expectSuccess(connection, {
    method: 'GET',
    path: `${itemsPath(round.namespace)}?limit=1`,
  });
  connection.close();
  const list = JSON.parse(body.toString('utf8')) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  return list.metadata.resourceVersion;
}

/** Delay from sending a creation to its event at one watcher, one at a time. */
export async function measureCreateToEvent(round: Round): Promise<void> {
  const path = itemsPath(round.namespace);
  const watcher = await connect(round.server.target, round.protocol);
  const writer = await connect(round.server.target, round.protocol);
  const delays: number[] = [];
  const request = { method: 'GET', path: `${path}?watch=1&resourceVersion=${await newest(round)}` };
  const read = stampReader((sent) => delays.push(performance.now() - sent));
  const close = await watcher.stream(request, read);
  for (let index = 0; index < round.sizes.events; index++) {
    await expectSuccess(writer, { method: 'POST', path, body: itemBody(`event-${index}`, stamp()) });
  }
  await untilQuiet(delays, round.sizes.events);
  // A deletion's event carries the stamp of the creation: the watch must have ended before.
  close();
  watcher.close();
  for (let index = 0; index < round.sizes.events; index++)
    await expectSuccess(writer, { method: 'DELETE', path: `${path}/event-${index}` });
  writer.close();
  round.record({ name: 'create to event', unit: 'p50 ms', better: 'lower', value: quantile(delays, 0.5) });
  round.record({ name: 'create to event', unit: 'p99 ms', better: 'lower', value: quantile(delays, 0.99) });
}
