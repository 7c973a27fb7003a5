import { amountsOf, type Container, type Pod } from '@sheaf/api/workload/index';
import type { ContainerResources } from '@sheaf/ports';

const leastShares = 2;

/** What a container may use: shares by what it asks for, hard bounds by its limits. */
export function resourcesOf(pod: Pod, { resources }: Container, nodeMemory: number): ContainerResources {
  const requests = amountsOf(resources?.requests);
  const limits = amountsOf(resources?.limits);
  const asked = requests['cpu'] ?? limits['cpu'] ?? 0;
  const { cpu, memory } = limits;
  return {
    cpuShares: Math.max(leastShares, Math.floor((asked * 1024) / 1000)),
    ...(cpu !== undefined && cpu > 0 && { cpuLimit: cpu / 1000 }),
    ...(memory !== undefined && memory > 0 && { memoryLimitBytes: memory }),
    outOfMemoryScore: scoreOf(pod, requests['memory'] ?? 0, nodeMemory),
  };
}

/** Who asked for nothing goes first; who was promised everything goes last. */
function scoreOf({ status }: Pod, asked: number, nodeMemory: number): number {
  if (status?.qosClass === 'Guaranteed') return -997;
  if (status?.qosClass === 'BestEffort') return 1000;
  const share = nodeMemory > 0 ? Math.floor((1000 * asked) / nodeMemory) : 0;
  return Math.min(999, Math.max(3, 1000 - share));
}
