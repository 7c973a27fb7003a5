import type { KubeObject } from '@sheaf/api';
import { type Client, type ObjectRef, resources } from '@sheaf/client';
import { listAt, textAt } from '../connect.ts';
import { type Step, waitFor } from './progress.ts';

const failures = new Set(['CrashLoopBackOff', 'ErrorUnschedulable', 'ErrorPvcNotFound', 'DataVolumeError']);

/** A line about a machine: its state, and why it is in it where that is told. */
export function machineLine(machine: KubeObject): string {
  const { name = '' } = machine.metadata;
  const status = textAt(machine, 'status', 'printableStatus');
  if (status === '') return `${name}: is new`;
  if (status === 'Running' || status === 'Stopped') return `${name}: ${status}`;
  const ready = listAt(machine, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'False',
  );
  const message = ready ? textAt(ready, 'message') : '';
  return message === '' ? `${name}: ${status}` : `${name}: ${status}: ${message}`;
}

/** How far a machine is on its way to a state. */
export function machineStep(machine: KubeObject | undefined, wanted: 'Running' | 'Stopped'): Step {
  if (!machine) return { line: 'it is gone', outcome: 'failed' };
  const line = machineLine(machine);
  const status = textAt(machine, 'status', 'printableStatus');
  if (status === wanted) return { line, outcome: 'done' };
  return wanted === 'Running' && failures.has(status) ? { line, outcome: 'failed' } : { line };
}

export interface Wait {
  readonly place: Required<ObjectRef>;
  readonly wanted: 'Running' | 'Stopped';
  readonly timeoutSeconds: number;
}

/** 0 once it is there; 1, and where to look further, if it cannot get there by itself. */
export async function waitForMachine(
  client: Client,
  { place, wanted, timeoutSeconds }: Wait,
): Promise<number> {
  const wayOut = `See what it waits for: sheaf vm why ${place.name} -n ${place.namespace}`;
  const step = await waitFor(
    async () => machineStep(await client.find(resources.virtualMachines, place), wanted),
    { timeoutSeconds, wayOut },
  );
  if (step.outcome === 'done') return 0;
  process.stderr.write(`${wayOut}\n`);
  return 1;
}
