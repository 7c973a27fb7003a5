import type { JsonObject, JsonValue } from '@sheaf/base';
import { fieldAt, textOf } from './fill.ts';

/** How a preference spreads processors. */
export interface Topology {
  readonly kind: 'sockets' | 'cores' | 'threads' | 'spread' | 'any';
  readonly ratio: number;
  readonly across: 'SocketsCores' | 'SocketsCoresThreads' | 'CoresThreads';
}

export interface Processors {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
}

const kinds = ['cores', 'threads', 'spread', 'any'] as const;
const ways = ['SocketsCoresThreads', 'CoresThreads'] as const;
const threadsPerCore = 2;

export function topologyOf(preference: JsonObject | undefined): Topology {
  const field = (path: string): JsonValue | undefined => (preference ? fieldAt(preference, path) : undefined);
  const named = textOf(field('cpu.preferredCPUTopology'))
    .replace(/^prefer/, '')
    .toLowerCase();
  const ratio = field('cpu.spreadOptions.ratio') ?? field('preferSpreadSocketToCoreRatio') ?? 0;
  return {
    kind: kinds.find((kind) => kind === named) ?? 'sockets',
    ratio: Number(ratio) || 2,
    across: ways.find((way) => way === field('cpu.spreadOptions.across')) ?? 'SocketsCores',
  };
}

export function spreadOf(count: number, { kind, ratio, across }: Topology): Processors {
  const single = { sockets: 1, cores: 1, threads: 1 };
  if (count === 1) return single;
  if (kind === 'cores') return { ...single, cores: count };
  if (kind === 'threads') return { ...single, threads: count };
  if (kind !== 'spread') return { ...single, sockets: count };
  if (across === 'CoresThreads') return { ...single, cores: count / ratio, threads: ratio };
  if (across === 'SocketsCores') return { ...single, sockets: count / ratio, cores: ratio };
  return { sockets: count / threadsPerCore / ratio, cores: ratio, threads: threadsPerCore };
}

/** KubeVirt's words when the processors of a type cannot be spread. */
export function spreadProblem(count: number, { kind, ratio, across }: Topology): string | undefined {
  if (kind !== 'spread') return undefined;
  const text = `${count} vCPUs provided by the instance type are not divisible by the`;
  if (across === 'SocketsCoresThreads') {
    if (count % (threadsPerCore * ratio) === 0) return undefined;
    return `${text} number of threads per core ${threadsPerCore} and Spec.PreferSpreadSocketToCoreRatio or Spec.CPU.PreferSpreadOptions.Ratio of ${ratio}`;
  }
  if (count % ratio === 0) return undefined;
  return across === 'CoresThreads'
    ? `${text} number of threads per core ${ratio}`
    : `${text} Spec.PreferSpreadSocketToCoreRatio or Spec.CPU.PreferSpreadOptions.Ratio of ${ratio} provided by the preference`;
}
