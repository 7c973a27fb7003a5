import type { KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { at, listAt, textAt } from '../connect.ts';
import { chainText, explain } from '../why.ts';
import { type MachineCall, type MachineCommand, textOf } from './machine-command.ts';
import { ageOf, tableText } from './table.ts';

export const list: MachineCommand = {
  summary: 'Lists virtual machines',
  words: '[options]',
  options: {
    'all-namespaces': { type: 'boolean', short: 'A' },
    output: { type: 'string', short: 'o' },
  },
  help: `  -A, --all-namespaces
  -o, --output json    for programs
`,
  run: listMachines,
};

async function listMachines({ client, namespace, flags }: MachineCall): Promise<number> {
  const inside = flags['all-namespaces'] === true ? {} : { namespace };
  const [machines, instances] = await Promise.all([
    client.list<KubeObject>(resources.virtualMachines, inside),
    client.list<KubeObject>(resources.virtualMachineInstances, inside),
  ]);
  if (textOf(flags, 'output') === 'json') {
    process.stdout.write(`${JSON.stringify(machines.items, undefined, 2)}\n`);
    return 0;
  }
  const byKey = new Map(instances.items.map((instance) => [keyOf(instance), instance]));
  const rows = machines.items.map((machine) => rowOf(machine, byKey.get(keyOf(machine)), Date.now()));
  const shown = flags['all-namespaces'] === true ? rows : rows.map((row) => row.slice(1));
  const heads = ['NAMESPACE', 'NAME', 'STATUS', 'CPU', 'MEMORY', 'ADDRESS', 'NODE', 'AGE'];
  const none = 'there are no virtual machines; make one: sheaf vm create NAME --image https://…\n';
  const table = tableText(flags['all-namespaces'] === true ? heads : heads.slice(1), shown);
  process.stdout.write(rows.length === 0 ? none : table);
  return 0;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** One line of the list. */
export function rowOf(
  machine: KubeObject,
  instance: KubeObject | undefined,
  nowMs: number,
): readonly string[] {
  const { namespace = '', name = '', creationTimestamp } = machine.metadata;
  const domain = at(machine, 'spec', 'template', 'spec', 'domain');
  const address = listAt(instance, 'status', 'interfaces')
    .map((nic) => textAt(nic, 'ipAddress'))
    .find((ip) => ip !== '');
  return [
    namespace,
    name,
    textAt(machine, 'status', 'printableStatus') || 'Unknown',
    String(processorsOf(domain)),
    textAt(domain, 'memory', 'guest') || '-',
    address ?? '-',
    textAt(instance, 'status', 'nodeName') || '-',
    ageOf(creationTimestamp, nowMs),
  ];
}

function processorsOf(domain: unknown): number {
  const counts = ['sockets', 'cores', 'threads'].map((part) => at(domain, 'cpu', part));
  return counts.reduce<number>((product, count) => product * (typeof count === 'number' ? count : 1), 1);
}

export const why: MachineCommand = {
  summary: 'Explains what a virtual machine waits for, and what can be done',
  words: 'NAME [options]',
  async run({ client, namespace, given: [name = ''] }) {
    process.stdout.write(chainText(await explain(client, { kind: 'virtualmachine', name, namespace })));
    return 0;
  },
};
