import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  drainForcedAnnotation,
  drainRequestedAnnotation,
  maintainStatusAnnotation,
  type NodeObject,
  shutdownBootAnnotation,
} from '@sheaf/api/node/index';
import { type Client, resources } from '@sheaf/client';
import type { Arguments } from './arguments.ts';
import { withClient } from './connect.ts';
import { runShape } from './run-command.ts';

const usage = `Usage: sheaf shutdown [options]

Closes this node, stops its virtual machines as their guests want it, evicts the pods that something makes anew, and
waits until all of them are gone. Then the host can be turned off. After its next start the machines and pods that ran
come back, except machines labelled harvesterhci.io/maintain-mode-strategy=Shutdown. The server itself goes on.

  --cancel         open the node again; machines that were stopped come back now
  --data-dir DIR   the data directory of the server
`;

const options = { cancel: { type: 'boolean' } } as const;
const { nodes } = resources;
const lookMs = 1000;

/** `sheaf shutdown`: 0 once no machine runs. Broken off, the shutdown goes on. */
export function shutdown(args: readonly string[]): Promise<number> {
  return runShape({ name: 'shutdown', usage, positionals: 0, options, run }, args);
}

function run({ flags, dataDir }: Arguments): Promise<number> {
  return withClient(dataDir, async (client) => {
    const name = (await readFile(join(dataDir, 'node-name'), 'utf8')).trim();
    if (flags['cancel'] === true) await cancel(client, name);
    else await shutDown(client, name);
    return 0;
  });
}

async function shutDown(client: Client, name: string): Promise<void> {
  const node = await client.get(nodes, { name });
  const boot = node.status?.nodeInfo?.bootID ?? '';
  const annotations = {
    [drainRequestedAnnotation]: 'true',
    [drainForcedAnnotation]: 'true',
    [shutdownBootAnnotation]: boot,
  };
  await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } });
  let told = '';
  for (;;) {
    const current = await client.get(nodes, { name });
    const message = messageOf(current);
    if (message !== told && message !== '') process.stdout.write(`${message}\n`);
    told = message;
    if (isCancelled(current)) throw new Error('the shutdown was cancelled meanwhile');
    if (isCompleted(current)) break;
    await setTimeout(lookMs);
  }
  process.stdout.write(farewell(name, boot));
}

function messageOf({ status }: NodeObject): string {
  return status?.conditions?.find(({ type }) => type === 'MaintenanceMode')?.message ?? '';
}

function isCompleted({ metadata }: NodeObject): boolean {
  return metadata.annotations?.[maintainStatusAnnotation] === 'completed';
}

function isCancelled({ metadata }: NodeObject): boolean {
  return metadata.annotations?.[drainRequestedAnnotation] === undefined;
}

function farewell(name: string, boot: string): string {
  const comeBack =
    boot === ''
      ? 'This host does not tell when it is started anew, so its machines come back with: sheaf shutdown --cancel'
      : 'Its machines come back after its next start, or now with: sheaf shutdown --cancel';
  return `The host of node ${name} can be turned off. ${comeBack}\n`;
}

async function cancel(client: Client, name: string): Promise<void> {
  const annotations = {
    [drainRequestedAnnotation]: null,
    [drainForcedAnnotation]: null,
    [maintainStatusAnnotation]: null,
    [shutdownBootAnnotation]: null,
  };
  const body = { metadata: { annotations }, spec: { unschedulable: null } };
  await client.patch(nodes, { name }, { type: 'merge', body });
  process.stdout.write(`Node ${name} is open; machines that were stopped for the shutdown come back.\n`);
}
