import type { Waiting } from '@sheaf/api';
import type { Client } from '@sheaf/client';
import type { TemplateExpansion } from '../plan.ts';
import type { VirtualMachine, VirtualMachineSpec } from '../virtual-machine.ts';
import { expandMachine, hasTypes } from './expand-machine.ts';
import { readTypes } from './find-types.ts';

/** The template of a machine with its instance type and preference; `undefined`: it names none. */
export async function readExpansion(
  client: Client,
  machine: VirtualMachine,
  signal: AbortSignal,
): Promise<TemplateExpansion | undefined> {
  if (!hasTypes(machine)) return undefined;
  const expansion = expandMachine(machine, await readTypes(client, machine, signal));
  switch (expansion.state) {
    case 'expanded':
      return { template: expansion.template };
    case 'missing':
      return {
        waiting: fault(expansion.reason, expansion.text, 'create it, or name another one in the machine'),
      };
    case 'conflict':
      return {
        waiting: fault(
          'FailedCreate',
          `VMI conflicts with instancetype spec in fields: [${expansion.causes.map(({ field }) => field).join(', ')}]`,
          'remove the fields from the machine, or do without the instance type',
        ),
      };
  }
}

/** A spec that the machine has had, with what its types say; those that are gone say nothing. */
export async function withTypesOf(
  client: Client,
  { machine, spec }: { readonly machine: VirtualMachine; readonly spec: VirtualMachineSpec | undefined },
  signal: AbortSignal,
): Promise<VirtualMachineSpec | undefined> {
  if (!spec) return undefined;
  const expansion = await readExpansion(client, { ...machine, spec }, signal);
  return expansion && 'template' in expansion ? { ...spec, template: expansion.template } : spec;
}

function fault(reason: string, text: string, wayOut: string): Waiting {
  return { reason, text, nature: 'fault', wayOut };
}
