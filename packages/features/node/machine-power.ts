import type { VirtualMachine } from '@sheaf/api/virtualization/index';

export const strategyLabel = 'harvesterhci.io/maintain-mode-strategy';
/** On which node a machine is to be started again. */
export const markAnnotation = 'harvesterhci.io/maintain-mode-strategy-node-name';
const lastStrategyAnnotation = 'harvesterhci.io/vmRunStrategy';

type Spec = VirtualMachine['spec'];

export function isHalted({ spec }: VirtualMachine): boolean {
  return spec.running === undefined ? spec.runStrategy === 'Halted' : !spec.running;
}

/** The machine, not to run; with the strategy that it had, and the node to come back on if it is to come back. */
export function halted(machine: VirtualMachine, comesBackOn: string | undefined): VirtualMachine {
  const { metadata, spec } = machine;
  const annotations = {
    ...metadata.annotations,
    ...(spec.runStrategy === undefined ? {} : { [lastStrategyAnnotation]: spec.runStrategy }),
    ...(comesBackOn === undefined ? {} : { [markAnnotation]: comesBackOn }),
  };
  const still: Spec =
    spec.running === undefined ? { ...spec, runStrategy: 'Halted' } : { ...spec, running: false };
  return { ...machine, metadata: { ...metadata, annotations }, spec: still };
}

/** The machine with the strategy that it had, and without the mark; one that someone has started meanwhile just loses the mark. */
export function revived(machine: VirtualMachine): VirtualMachine {
  const { metadata, spec } = machine;
  const { [markAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  const unmarked = { ...machine, metadata: { ...metadata, annotations } };
  if (!isHalted(machine)) return unmarked;
  if (spec.running !== undefined) return { ...unmarked, spec: { ...spec, running: true } };
  return { ...unmarked, spec: { ...spec, runStrategy: lastStrategyOf(machine) } };
}

function lastStrategyOf({ metadata }: VirtualMachine): string {
  return metadata.annotations?.[lastStrategyAnnotation] ?? 'RerunOnFailure';
}

/** Machines that run only when they are asked to are asked to. */
export function needsStartRequest(machine: VirtualMachine): boolean {
  return isHalted(machine) && machine.spec.running === undefined && lastStrategyOf(machine) === 'Manual';
}

/** With a start asked for; the very same machine if that has been done. */
export function withStartRequest(machine: VirtualMachine): VirtualMachine {
  const requests = machine.status?.stateChangeRequests ?? [];
  if (requests.some(({ action }) => action === 'Start')) return machine;
  const stateChangeRequests = [...requests, { action: 'Start' }];
  return { ...machine, status: { ...machine.status, stateChangeRequests } };
}
