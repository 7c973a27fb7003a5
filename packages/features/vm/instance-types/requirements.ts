import { compareQuantities, type JsonObject, parseQuantity, type StatusCause } from '@sheaf/base';
import { cause } from '../rules/cause.ts';
import { type Topology, topologyOf } from './cpu-topology.ts';
import { fieldAt, textOf } from './fill.ts';

interface Chosen {
  readonly type: JsonObject | undefined;
  readonly preference: JsonObject;
}

const machineFields = 'spec.template.spec.domain';

/** What a preference asks for and the machine, with its type, does not have; in KubeVirt's words. */
export function requirementCauses(spec: JsonObject, chosen: Chosen): readonly StatusCause[] {
  return [...cpuCauses(spec, chosen), ...memoryCauses(spec, chosen), ...architectureCauses(spec, chosen)];
}

function cpuCauses(spec: JsonObject, { type, preference }: Chosen): readonly StatusCause[] {
  const wanted = Number(fieldAt(preference, 'requirements.cpu.guest') ?? 0);
  if (wanted === 0) return [];
  if (type) {
    const given = Number(fieldAt(type, 'cpu.guest') ?? 0);
    const text = `insufficient CPU resources of ${given} vCPU provided by instance type, preference requires ${wanted} vCPU`;
    return given < wanted ? [failing('spec.instancetype', text, 'use a larger type')] : [];
  }
  const { given, words } = ownProcessors(spec, topologyOf(preference));
  if (given >= wanted) return [];
  const text = `insufficient CPU resources of ${given} vCPU provided by VirtualMachine, preference requires ${wanted} vCPU provided as ${words}`;
  return [failing(`${machineFields}.cpu`, text, 'give the machine more')];
}

function ownProcessors(spec: JsonObject, { kind, across }: Topology): { given: number; words: string } {
  const count = (name: string): number => Number(fieldAt(spec, `domain.cpu.${name}`) ?? 1);
  if (kind === 'sockets' || kind === 'cores' || kind === 'threads')
    return { given: count(kind), words: kind };
  const given = count('sockets') * count('cores') * count('threads');
  return { given, words: kind === 'spread' ? across : 'cores, sockets and threads' };
}

function memoryCauses(spec: JsonObject, { type, preference }: Chosen): readonly StatusCause[] {
  const wanted = textOf(fieldAt(preference, 'requirements.memory.guest'));
  const given = textOf(fieldAt(spec, 'domain.memory.guest')) || '0';
  if (wanted === '' || compareQuantities(parseQuantity(given), parseQuantity(wanted)) >= 0) return [];
  const [field, who] = type
    ? ['spec.instancetype', 'instance type']
    : [`${machineFields}.memory`, 'VirtualMachine'];
  const text = `insufficient Memory resources of ${given} provided by ${who}, preference requires ${wanted}`;
  return [failing(field, text, 'use a larger type, or give the machine more')];
}

function architectureCauses(spec: JsonObject, { preference }: Chosen): readonly StatusCause[] {
  const wanted = textOf(fieldAt(preference, 'requirements.architecture'));
  const given = textOf(fieldAt(spec, 'architecture')) || 'amd64';
  if (wanted === '' || wanted === given) return [];
  const text = `preference requires architecture ${wanted} but ${given} is being requested`;
  return [failing('spec.template.spec.architecture', text, 'use another preference')];
}

function failing(field: string, text: string, wayOut: string): StatusCause {
  return cause(field, `failure checking preference requirements: ${text}`, { wayOut });
}
