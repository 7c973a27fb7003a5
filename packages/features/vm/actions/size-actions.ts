import { findCondition } from '@sheaf/api';
import { formatQuantity, parseQuantity, QuantitySyntaxError } from '@sheaf/base';
import type { DomainSpec } from '../instance-spec.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import {
  type Action,
  type ActionCall,
  editMachine,
  invalidAction,
  invalidBody,
  refused,
  textOf,
} from './action-call.ts';

export const sizeActions: Readonly<Record<string, Action>> = {
  cpuAndMemoryHotplug,
  dismissInsufficientResourceQuota,
};

const hotplugAnnotation = 'harvesterhci.io/enableCPUAndMemoryHotplug';
const quotaAnnotation = 'harvesterhci.io/insufficient-resource-quota';

/** More processors and more memory for a machine that runs. */
async function cpuAndMemoryHotplug(call: ActionCall): Promise<undefined> {
  const { sockets } = call.body;
  const memory = textOf(call, 'memory');
  if (sockets !== undefined && !isCount(sockets))
    throw invalidBody('Failed to decode request body: sockets is no whole number; give one such as 2');
  const guest = memory === '' ? undefined : readMemory(memory);
  await editMachine(call, (machine) => {
    const reason = reasonAgainst(machine);
    if (reason !== undefined)
      throw invalidAction(`CPU and memory hotplug is not supported for this VM: ${reason}`);
    return withDomain(machine, (domain) => ({
      ...domain,
      ...(sockets ? { cpu: { ...domain.cpu, sockets } } : {}),
      ...(guest === undefined ? {} : { memory: { ...domain.memory, guest } }),
    }));
  });
  return undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function readMemory(text: string): string {
  try {
    return formatQuantity(parseQuantity(text));
  } catch (error) {
    if (!(error instanceof QuantitySyntaxError)) throw error;
    throw invalidBody(`failed to parse memory quantity: ${error.message}; give a size such as 4Gi`);
  }
}

function reasonAgainst({ metadata, spec, status }: VirtualMachine): string | undefined {
  if (!hasSingleCores(spec.template.spec.domain))
    return 'its sockets have several cores or threads; stop it and edit it';
  if (status?.printableStatus !== 'Running') return 'it is not running; edit it';
  if (metadata.annotations?.[hotplugAnnotation] !== 'true')
    return `it was not started for it; set the annotation ${hotplugAnnotation}: "true" and restart it`;
  const isUnderway = changing.some((type) => findCondition(status.conditions, type)?.status === 'True');
  return isUnderway ? 'an earlier change has not taken effect yet; wait, or restart it' : undefined;
}

const changing = ['RestartRequired', 'HotVCPUChange', 'HotMemoryChange'];

function hasSingleCores({ cpu }: DomainSpec): boolean {
  return (cpu?.cores ?? 1) === 1 && (cpu?.threads ?? 1) === 1;
}

function withDomain(machine: VirtualMachine, change: (domain: DomainSpec) => DomainSpec): VirtualMachine {
  const { template } = machine.spec;
  const spec = { ...template.spec, domain: change(template.spec.domain) };
  return { ...machine, spec: { ...machine.spec, template: { ...template, spec } } };
}

async function dismissInsufficientResourceQuota(call: ActionCall): Promise<undefined> {
  await editMachine(call, (machine) => {
    const { [quotaAnnotation]: message, ...annotations } = machine.metadata.annotations ?? {};
    if (message === undefined)
      throw refused('cannot dismiss insufficient resource quota message; there is none');
    return { ...machine, metadata: { ...machine.metadata, annotations } };
  });
  return undefined;
}
