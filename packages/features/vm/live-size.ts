import { parseQuantity, quantityAsBigInt } from '@sheaf/base';
import { grownRequests } from './grown-requests.ts';
import type { DomainSpec, InstanceSpec, QuantityText } from './instance-spec.ts';

/** What a running machine can be given; from the hypervisor's capabilities. */
export interface LiveAbilities {
  readonly canAddSockets: boolean;
  readonly canAddMemory: boolean;
}

/** What became of a template since its instance was started. */
export interface TemplateChange {
  readonly started: InstanceSpec;
  readonly wanted: InstanceSpec;
  /** The instance as it is. */
  readonly instance: InstanceSpec;
  /** What its process has; what it has not grown to yet may still be taken back. */
  readonly seen?: SeenSize | undefined;
}

interface SeenSize {
  readonly sockets?: number | undefined;
  readonly guest?: QuantityText | undefined;
}

/** The size of a running machine: what takes effect now, with the requests that belong to it, and what waits. */
export interface LiveSize {
  readonly domain: Partial<DomainSpec>;
  readonly restartFields: readonly string[];
}

export function planSize(change: TemplateChange, { canAddSockets, canAddMemory }: LiveAbilities): LiveSize {
  const sockets = outcomeOf(socketsOf(change), canAddSockets);
  const memory = outcomeOf(memoryOf(change), canAddMemory);
  const waiting = {
    sockets: 'template.spec.domain.cpu.sockets',
    memory: 'template.spec.domain.memory.guest',
  };
  return {
    domain: sizedDomain(change, { isCpuNew: sockets === 'now', isMemoryNew: memory === 'now' }),
    restartFields: [
      ...(sockets === 'restart' ? [waiting.sockets] : []),
      ...(memory === 'restart' ? [waiting.memory] : []),
    ],
  };
}

/** One amount at each place where it stands; without: it is not known. */
interface Amounts {
  readonly started: bigint | undefined;
  readonly wanted: bigint | undefined;
  readonly current: bigint | undefined;
  readonly seen: bigint | undefined;
  readonly most: bigint | undefined;
}

function socketsOf({ started, wanted, instance, seen }: TemplateChange): Amounts {
  const of = ({ domain }: InstanceSpec): bigint => BigInt(domain.cpu?.sockets ?? 1);
  const most = instance.domain.cpu?.maxSockets;
  return {
    started: of(started),
    wanted: of(wanted),
    current: of(instance),
    seen: seen?.sockets === undefined ? undefined : BigInt(seen.sockets),
    most: most === undefined ? undefined : BigInt(most),
  };
}

function memoryOf({ started, wanted, instance, seen }: TemplateChange): Amounts {
  const of = ({ domain }: InstanceSpec): bigint | undefined => bytesOf(domain.memory?.guest);
  return {
    started: of(started),
    wanted: of(wanted),
    current: of(instance),
    seen: bytesOf(seen?.guest),
    most: bytesOf(instance.domain.memory?.maxGuest),
  };
}

function bytesOf(amount: QuantityText | undefined): bigint | undefined {
  return amount === undefined ? undefined : quantityAsBigInt(parseQuantity(String(amount)));
}

/** More, up to a bound, takes effect at once; less only of what the process has not had yet. */
function outcomeOf(amounts: Amounts, isAble: boolean): 'none' | 'now' | 'restart' {
  const { started, wanted, current, seen = current } = amounts;
  if (wanted === current || (wanted === started && !isMore(current, seen))) return 'none';
  return isAble && isWithin(amounts) ? 'now' : 'restart';
}

function isWithin({ wanted, current, seen = current, most = current }: Amounts): boolean {
  return wanted !== undefined && current !== undefined && !isMore(seen, wanted) && !isMore(wanted, most);
}

/** What is not known is not more than anything. */
function isMore(a: bigint | undefined, b: bigint | undefined): boolean {
  return a !== undefined && b !== undefined && a > b;
}

function sizedDomain(
  { started, wanted, instance }: TemplateChange,
  { isCpuNew, isMemoryNew }: { readonly isCpuNew: boolean; readonly isMemoryNew: boolean },
): Partial<DomainSpec> {
  if (!isCpuNew && !isMemoryNew) return {};
  const { domain } = instance;
  const cpu = isCpuNew ? { ...domain.cpu, sockets: wanted.domain.cpu?.sockets ?? 1 } : domain.cpu;
  const memory = isMemoryNew ? { ...domain.memory, guest: wanted.domain.memory?.guest } : domain.memory;
  const requests = grownRequests(started.domain, { ...domain, cpu, memory });
  return { cpu, memory, ...(requests ? { resources: { ...domain.resources, requests } } : {}) };
}
