import { formatQuantity, parseQuantity, quantityAsBigInt, quantityOf } from '@sheaf/base';

/** What a machine takes of a node, or a node has for machines. */
export interface Amounts {
  /** Thousandths of a processor. */
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

/** How many times processors and memory may be given out, in percent: 100 is once. */
export interface OvercommitShares {
  readonly cpu: number;
  readonly memory: number;
}

type Quantities = Readonly<Record<string, string | number>>;

/** The part of a machine's domain that tells how large it is. */
export interface SizedDomain {
  readonly cpu?:
    | {
        readonly sockets?: number | undefined;
        readonly cores?: number | undefined;
        readonly threads?: number | undefined;
      }
    | undefined;
  readonly memory?: { readonly guest?: string | number | undefined } | undefined;
  readonly resources?:
    | { readonly requests?: Quantities | undefined; readonly limits?: Quantities | undefined }
    | undefined;
}

/** A resource of which there is not enough. */
export interface Shortage {
  readonly resource: 'cpu' | 'memory';
  /** In the unit of `Amounts`, as are the others. */
  readonly wanted: number;
  readonly free: number;
  readonly allocatable: number;
}

/**
 * What a machine takes of a node: its requests where it has some, since those are made of the limits and the over-commitment
 * when a machine is written, else its size divided by the over-commitment of now.
 */
export function requestsOf(domain: SizedDomain, overcommit: OvercommitShares): Amounts {
  const { resources } = domain;
  const share = (amount: number, percent: number): number => Math.ceil((amount * 100) / percent);
  return {
    cpuMillis: amountOf(resources?.requests?.['cpu'], -3) ?? share(cpuMillisOf(domain), overcommit.cpu),
    memoryBytes: amountOf(resources?.requests?.['memory']) ?? share(memoryOf(domain), overcommit.memory),
  };
}

/** What may change of a machine that runs. */
export interface MachineSize {
  readonly sockets: number;
  readonly memoryBytes: number;
}

/**
 * What a machine takes at another size than its domain has: in proportion, but a limit that it was given leaves room below it for
 * nothing more.
 */
export function requestsAt(domain: SizedDomain, size: MachineSize, overcommit: OvercommitShares): Amounts {
  const { cpuMillis, memoryBytes } = requestsOf(domain, overcommit);
  const limits = domain.resources?.limits;
  const scaled = (
    amount: number,
    limit: number | undefined,
    [from, to]: readonly [number, number],
  ): number =>
    from === to ? amount : Math.ceil((amount * Math.max(to, limit ?? 0)) / Math.max(from, limit ?? 0));
  const cpu = { ...domain.cpu, sockets: size.sockets };
  const guest = amountOf(domain.memory?.guest) ?? size.memoryBytes;
  return {
    cpuMillis: scaled(cpuMillis, amountOf(limits?.['cpu'], -3), [
      processorsOf(domain.cpu),
      processorsOf(cpu),
    ]),
    memoryBytes: scaled(memoryBytes, amountOf(limits?.['memory']), [guest, size.memoryBytes]),
  };
}

function cpuMillisOf({ cpu, resources }: SizedDomain): number {
  return amountOf(resources?.limits?.['cpu'], -3) ?? processorsOf(cpu);
}

function processorsOf({ sockets = 1, cores = 1, threads = 1 }: SizedDomain['cpu'] = {}): number {
  return sockets * cores * threads * 1000;
}

function memoryOf({ memory, resources }: SizedDomain): number {
  return amountOf(resources?.limits?.['memory']) ?? amountOf(memory?.guest) ?? 0;
}

/** What a node has for machines; a resource that it does not tell bounds nothing. */
export function allocatableOf(quantities: Quantities | undefined): Amounts {
  return {
    cpuMillis: amountOf(quantities?.['cpu'], -3) ?? Number.POSITIVE_INFINITY,
    memoryBytes: amountOf(quantities?.['memory']) ?? Number.POSITIVE_INFINITY,
  };
}

/** What is missing for a machine beside those that are there; empty: it fits. */
export function findShortages(
  allocatable: Amounts,
  used: readonly Amounts[],
  wanted: Amounts,
): readonly Shortage[] {
  const missing = (resource: Shortage['resource'], amount: keyof Amounts): readonly Shortage[] => {
    const free = used.reduce((left, each) => left - each[amount], allocatable[amount]);
    if (wanted[amount] <= free) return [];
    return [
      {
        resource,
        wanted: wanted[amount],
        free: Math.max(0, free),
        allocatable: allocatable[amount],
      },
    ];
  };
  return [...missing('cpu', 'cpuMillis'), ...missing('memory', 'memoryBytes')];
}

/** In the form of the scheduler's message, with what is missing and what can be done. */
export function shortageText(shortages: readonly Shortage[]): string {
  const missing = shortages.map(({ resource, wanted, free, allocatable }) => {
    const text = (amount: number): string => amountText(resource, amount);
    return `1 Insufficient ${resource} (${text(wanted)} wanted, ${text(free)} of ${text(allocatable)} free)`;
  });
  const names = shortages.map(({ resource }) => resource).join(' and ');
  return `0/1 nodes are available: ${missing.join(', ')}; stop another machine, make this one smaller, or raise ${names} in the setting overcommit-config and write this one again`;
}

function amountText(resource: Shortage['resource'], amount: number): string {
  if (resource === 'memory') return formatQuantity(quantityOf(Math.floor(amount), 'BinarySI'));
  return formatQuantity({
    unscaled: BigInt(Math.floor(amount)),
    scale: -3,
    format: 'DecimalSI',
    text: undefined,
  });
}

function amountOf(quantity: string | number | undefined, scale = 0): number | undefined {
  if (quantity === undefined) return undefined;
  return Number(quantityAsBigInt(parseQuantity(String(quantity)), scale));
}
