import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Protocol } from './client/connection.ts';
import { type MeasuredServer, openServer } from './measure/server.ts';
import { Results, table } from './report/table.ts';
import { fullSizes, quickSizes } from './sizes.ts';
import {
  measureCollectionDelete,
  measureLists,
  measureMemory,
  measureRestart,
  populate,
  prepare,
} from './workload/population.ts';
import { measureRequests, type Round } from './workload/requests.ts';
import { measureCreateToEvent, measureFanOut } from './workload/watch.ts';

const usage = `usage: npm run bench -- [--peer KUBECONFIG|start] [--subject KUBECONFIG|start]
         [--peer-pid N …] [--subject-pid N …] [--protocol http/1.1|h2] [--rounds N] [--quick] [--json FILE]

Measures one or two Kubernetes API servers and prints one table. "start" starts the server and measures its start and
restart too: the peer from SHEAF_PEER_BIN or PATH (bench/README.md), the subject from this checkout. Processor time and memory of a
given server need the process ids of everything that serves it.`;

const { values: options } = parseArgs({
  options: {
    peer: { type: 'string' },
    subject: { type: 'string' },
    'peer-pid': { type: 'string', multiple: true, default: [] },
    'subject-pid': { type: 'string', multiple: true, default: [] },
    protocol: { type: 'string', default: 'http/1.1' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help || (options.peer === undefined && options.subject === undefined)) {
  console.error(usage);
  process.exit(options.help ? 0 : 2);
}

const protocol: Protocol = options.protocol === 'h2' ? 'h2' : 'http/1.1';
const sizes = options.quick ? quickSizes : fullSizes;
const rounds = options.rounds === undefined ? sizes.rounds : Number(options.rounds);
const runName = new Date()
  .toISOString()
  .slice(0, 19)
  .replaceAll(/[^0-9]/g, '');
const results = new Results();
const directory = await mkdtemp(join(tmpdir(), 'sheaf-bench-'));
const servers: MeasuredServer[] = [];
try {
  await openServers();
  for (let index = 0; index < rounds; index++) {
    // The order changes from round to round, so that neither server always has the cooler machine.
    const order = index % 2 === 0 ? servers : servers.toReversed();
    for (const server of order) {
      progress(`round ${index + 1} of ${rounds}: requests to the ${server.name}`);
      await measureRequests(roundOf(server, `bench-${runName}-${index}`));
    }
  }
  for (const server of servers) await measurePopulation(server);
  console.log(`\n${protocol}, ${cpus().length} processors, medians of ${rounds} rounds\n`);
  console.log(table(results.rows()));
  await writeJson();
} finally {
  for (const server of servers) await server.stop();
  await rm(directory, { recursive: true, force: true });
}

async function openServers(): Promise<void> {
  for (const name of ['peer', 'subject'] as const) {
    const from = options[name];
    if (from === undefined) continue;
    progress(`opening the ${name}`);
    const pids = options[`${name}-pid`].map(Number);
    const server = await openServer({ name, from, pids, directory });
    servers.push(server);
    const milliseconds = server.startMilliseconds;
    if (milliseconds !== undefined)
      results.add(name, { name: 'first start', unit: 'ms to ready', better: 'lower', value: milliseconds });
    await measureMemory(roundOf(server, ''), 'idle');
  }
}

async function measurePopulation(server: MeasuredServer): Promise<void> {
  const round = roundOf(server, `bench-${runName}-population`);
  await prepare(round);
  progress(`${sizes.population} objects in the ${server.name}`);
  await populate(round, 0, sizes.population);
  await measureMemory(round, `with ${sizes.population} objects`);
  await measureLists(round);
  await measureCreateToEvent(round);
  progress(`watchers of the ${server.name}`);
  await measureFanOut(round);
  progress(`restart of the ${server.name}`);
  await measureRestart(round);
  await measureMemory(round, `after a restart with ${sizes.population} objects`);
  progress(`a collection of ${sizes.collection} in the ${server.name}`);
  await populate(round, sizes.population, sizes.collection);
  await measureCollectionDelete(round);
}

function roundOf(server: MeasuredServer, namespace: string): Round {
  return { server, protocol, sizes, namespace, record: (measure) => results.add(server.name, measure) };
}

async function writeJson(): Promise<void> {
  const file = options.json ?? fileURLToPath(new URL(`./results/${runName}.json`, import.meta.url));
  await mkdir(join(file, '..'), { recursive: true });
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? '',
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
  };
  const document = { date: new Date().toISOString(), protocol, quick: options.quick, rounds, sizes, machine };
  await writeFile(file, `${JSON.stringify({ ...document, rows: results.rows() }, undefined, 2)}\n`);
  console.log(`\nfigures of every round: ${file}`);
}

function progress(text: string): void {
  console.error(`[bench] ${text}`);
}
