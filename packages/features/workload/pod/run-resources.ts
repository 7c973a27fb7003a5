import { amountsOf, type Container, type Pod, type ResourceAmounts } from '@sheaf/api/workload/index';
import type { ContainerResources } from '@sheaf/ports';

const leastShares = 2;

/** What a container may use: shares by what it asks for, hard bounds by its limits. */
export function resourcesOf(pod: Pod, { resources }: Container, nodeMemory: number): ContainerResources {
  const requests = amountsOf(resources?.requests);
  // There is no group of the whole pod: each container has its limit, where it has none of its own.
  const limits = { ...amountsOf(pod.spec.resources?.limits), ...amountsOf(resources?.limits) };
  const asked = requests['cpu'] ?? limits['cpu'] ?? 0;
  return {
    cpuShares: Math.max(leastShares, Math.floor((asked * 1024) / 1000)),
    ...boundsOf(limits),
    outOfMemoryScore: scoreOf(pod, requests['memory'] ?? 0, nodeMemory),
  };
}

function boundsOf({ cpu = 0, memory = 0 }: ResourceAmounts): ContainerResources {
  return { ...(cpu > 0 && { cpuLimit: cpu / 1000 }), ...(memory > 0 && { memoryLimitBytes: memory }) };
}

/** Who asked for nothing goes first; who was promised everything goes last. */
function scoreOf({ status }: Pod, asked: number, nodeMemory: number): number {
  if (status?.qosClass === 'Guaranteed') return -997;
  if (status?.qosClass === 'BestEffort') return 1000;
  const share = nodeMemory > 0 ? Math.floor((1000 * asked) / nodeMemory) : 0;
  return Math.min(999, Math.max(3, 1000 - share));
}
