import type { KubeObject } from '@sheaf/api';
import { type Client, DiscoveryReader, resources as known, preferredResources } from '@sheaf/client';
import type { Arguments } from './arguments.ts';
import { type CapabilityReport, readReport, type ServerReport, withClient } from './connect.ts';
import { nodeLine } from './node-line.ts';
import { runShape } from './run-command.ts';
import { findWaiting } from './waiting.ts';

const usage = `Usage: sheaf status [options]

Shows the server's version and readiness, its certificates, store, nodes and controllers, and what waits.
The exit code is 0 when the server is ready.

  -o, --output json    for programs
  --data-dir DIR       the data directory of the server
`;

const options = { output: { type: 'string', short: 'o' } } as const;

/** Kinds that are looked through for what waits. */
const looked = new Set([
  'namespaces',
  'pods',
  'persistentvolumeclaims',
  'csidrivers.storage.k8s.io',
  'datavolumes.cdi.kubevirt.io',
  'nodes',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'virtualmachines.kubevirt.io',
  'virtualmachineimages.harvesterhci.io',
  'addons.harvesterhci.io',
  'helmcharts.helm.cattle.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'apiservices.apiregistration.k8s.io',
]);
const waitingShown = 20;

/** `sheaf status`. */
export function status(args: readonly string[]): Promise<number> {
  return runShape({ name: 'status', usage, positionals: 0, options, run }, args);
}

function run({ flags, dataDir }: Arguments): Promise<number> {
  return withClient(dataDir, async (client) => {
    const [report, waiting, nodes] = await Promise.all([
      readReport(client),
      findAllWaiting(client),
      client.list(known.nodes),
    ]);
    const text =
      flags['output'] === 'json'
        ? `${JSON.stringify({ ...report, waiting }, undefined, 2)}\n`
        : statusText(report, waiting, nodes.items);
    process.stdout.write(text);
    return report.checks.some(({ reason }) => reason !== undefined) ? 1 : 0;
  });
}

interface WaitingObject {
  readonly object: string;
  readonly namespace?: string;
  readonly text: string;
}

async function findAllWaiting(client: Client): Promise<WaitingObject[]> {
  const resources = preferredResources(await new DiscoveryReader(client).read(), ['list']).filter(
    ({ group, plural }) => looked.has(group === '' ? plural : `${plural}.${group}`),
  );
  const found: WaitingObject[] = [];
  for (const resource of resources) {
    const { items } = await client.list(resource, { limit: 500 });
    for (const object of items) found.push(...waitingOf({ ...object, kind: resource.kind }));
  }
  return found;
}

function waitingOf(object: KubeObject): WaitingObject[] {
  const waiting = findWaiting(object);
  if (!waiting) return [];
  const { name = '', namespace } = object.metadata;
  return [{ object: `${object.kind}/${name}`, ...(namespace ? { namespace } : {}), text: waiting.text }];
}

export function statusText(
  report: ServerReport,
  waiting: readonly WaitingObject[],
  nodes: readonly KubeObject[],
): string {
  const failed = report.checks.filter(({ reason }) => reason !== undefined);
  const { liveBytes = 0, historyBytes = 0, keys = 0, revision = 0 } = report.store;
  const lines = [
    `Sheaf ${report.version}: ${failed.length === 0 ? 'ready' : 'NOT ready'}`,
    ...failed.map(({ name, reason }) => `  ${name}: ${reason}`),
    `Store: ${keys} objects, ${megabytes(liveBytes)} (${megabytes(historyBytes)} with history), revision ${revision}`,
    'Certificates:',
    ...report.certificates.map(({ name, notAfter }) => `  ${name.padEnd(20)} until ${notAfter.slice(0, 10)}`),
    'Host:',
    ...report.capabilities.map(capabilityLine),
    'Nodes:',
    ...nodes.map((node) => `  ${nodeLine(node)}`),
    'Objects:',
    ...columns(Object.entries(report.objects).map(([name, count]) => `${name} ${count}`)),
    'Controllers:',
    ...report.controllers.flatMap(controllerLines),
    waiting.length === 0 ? 'Nothing waits.' : `Waiting (${waiting.length}); ask \`sheaf why KIND/NAME\`:`,
    ...waiting.slice(0, waitingShown).map(waitingLine),
  ];
  return `${lines.join('\n')}\n`;
}

function waitingLine({ object, namespace, text }: WaitingObject): string {
  return `  ${object}${namespace ? ` -n ${namespace}` : ''}: ${text}`;
}

function controllerLines(report: ServerReport['controllers'][number]): string[] {
  const { name, passes, queueDepth, failing, failingCount } = report;
  const state = failingCount === 0 ? 'well' : `${failingCount} failing`;
  const line = `  ${name.padEnd(26)} ${state}, ${queueDepth} waiting, ${passes} passes`;
  return [line, ...failing.slice(0, 3).map(({ key, message }) => `    ${key}: ${message}`)];
}

function capabilityLine({ name, isAvailable, reason, wayOut }: CapabilityReport): string {
  return `  ${name.padEnd(12)} ${isAvailable ? 'yes' : 'no'}: ${reason}${wayOut ? `; ${wayOut}` : ''}`;
}

function columns(items: readonly string[]): string[] {
  const sorted = [...items].sort();
  const width = Math.max(...sorted.map((item) => item.length)) + 2;
  const rows = Math.ceil(sorted.length / 2);
  return sorted
    .slice(0, rows)
    .map((item, index) => `  ${item.padEnd(width)}${sorted[index + rows] ?? ''}`.trimEnd());
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
