import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, connect } from '../client/connection.ts';
import { cpuMilliseconds, memory } from '../measure/process-usage.ts';
import { median } from '../measure/statistics.ts';
import { closedLoop } from './closed-loop.ts';
import { openConnections, type Round } from './requests.ts';
import {
  deleteUntilEmpty,
  expectSuccess,
  itemBody,
  itemName,
  itemsPath,
  prepareNamespace,
} from './resource.ts';

const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1';

/** Memory while nothing is asked of the server. `state` names what it holds. */
export async function measureMemory(round: Round, state: string): Promise<void> {
  const pids = round.server.pids();
  if (pids.length === 0) return;
  await delay(round.sizes.settleMilliseconds);
  const { rss, pss } = memory(pids);
  round.record({ name: `memory ${state}`, unit: 'RSS MiB', better: 'lower', value: rss });
  round.record({ name: `memory ${state}`, unit: 'PSS MiB', better: 'lower', value: pss, detail: true });
}

/** Fills a namespace up to `until` items. */
export async function populate(round: Round, from: number, until: number): Promise<void> {
  const clients = Math.min(32, until - from);
  const connections = await openConnections(round, round.protocol === 'h2' ? 1 : clients);
  const path = itemsPath(round.namespace);
  await closedLoop({
    connections,
    clients,
    total: until - from,
    pids: [],
    request: (index) => ({ method: 'POST', path, body: itemBody(itemName(from + index), '0') }),
  });
  for (const connection of connections) connection.close();
}

/** Lists of the whole population: in one piece, in pages of 500, and as a table. */
export async function measureLists(round: Round): Promise<void> {
  const connection = await connect(round.server.target, round.protocol);
  const path = itemsPath(round.namespace);
  const count = round.sizes.population;
  await repeatList(round, `list of ${count}`, async () => {
    await expectSuccess(connection, { method: 'GET', path });
  });
  await repeatList(round, `list of ${count}, resourceVersion=0`, async () => {
    await expectSuccess(connection, { method: 'GET', path: `${path}?resourceVersion=0` });
  });
  await repeatList(round, `list of ${count} in pages of 500`, () => listPages(connection, path));
  await repeatList(round, `list of ${count} as a table`, async () => {
    await expectSuccess(connection, { method: 'GET', path, accept: tableType });
  });
  connection.close();
}

async function repeatList(round: Round, name: string, list: () => Promise<void>): Promise<void> {
  const durations: number[] = [];
  const pids = round.server.pids();
  const cpu = cpuMilliseconds(pids);
  for (let index = 0; index < round.sizes.lists; index++) {
    const begun = performance.now();
    await list();
    durations.push(performance.now() - begun);
  }
  const used = pids.length === 0 ? Number.NaN : cpuMilliseconds(pids) - cpu;
  round.record({ name, unit: 'ms', better: 'lower', value: median(durations) });
  round.record({ name, unit: 'CPU ms', better: 'lower', value: used / round.sizes.lists });
}

async function listPages(connection: Connection, path: string): Promise<void> {
  let next = '';
  do {
    const body = await expectSuccess(connection, { method: 'GET', path: `${path}?limit=500${next}` });
    const token = continueToken(body);
    next = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`;
  } while (next !== '');
}

/** The list's metadata stands before or after the items, as the server likes; the items are not parsed. */
function continueToken(list: Buffer): string | undefined {
  const ends = list.toString('latin1', 0, 2000) + list.toString('latin1', Math.max(0, list.length - 2000));
  return /"continue":"([^"]+)"/.exec(ends)?.[1];
}

/** Milliseconds and processor time of deleting a whole collection, until a list shows nothing. */
export async function measureCollectionDelete(round: Round): Promise<void> {
  const pids = round.server.pids();
  const cpu = cpuMilliseconds(pids);
  const begun = performance.now();
  await deleteUntilEmpty(round.server.target, itemsPath(round.namespace));
  const name = `delete a collection of ${round.sizes.collection}`;
  round.record({ name, unit: 's', better: 'lower', value: (performance.now() - begun) / 1000 });
  if (pids.length > 0)
    round.record({ name, unit: 'CPU s', better: 'lower', value: (cpuMilliseconds(pids) - cpu) / 1000 });
}

/** Stops and starts a server that holds the population; the time until it is ready and until it has listed everything. */
export async function measureRestart(round: Round): Promise<void> {
  if (round.server.restart === undefined) return;
  const milliseconds = await round.server.restart();
  const connection = await connect(round.server.target, 'http/1.1');
  const begun = performance.now();
  // A server may be ready and still turn requests away (429) while it fills its caches.
  const path = itemsPath(round.namespace);
  while ((await connection.request({ method: 'GET', path })).status !== 200) await delay(10);
  connection.close();
  const state = `with ${round.sizes.population} objects`;
  round.record({ name: `restart ${state}`, unit: 'ms to ready', better: 'lower', value: milliseconds });
  round.record({
    name: `restart ${state}`,
    unit: 'ms to first full list',
    better: 'lower',
    value: milliseconds + performance.now() - begun,
  });
}

export async function prepare(round: Round): Promise<void> {
  const connection = await connect(round.server.target, 'http/1.1');
  await prepareNamespace(connection, round.namespace);
  connection.close();
}
