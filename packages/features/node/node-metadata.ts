import type { ObjectMeta } from '@sheaf/api';
import type { NodeCondition, NodeObject, Taint } from '@sheaf/api/node/index';
import type { HostFacts } from '@sheaf/ports';
import type { NodeAbilities } from './node-conditions.ts';

const acceleratorLabel = 'sheaf.dev/accelerator';
const acceleratorReasonAnnotation = 'sheaf.dev/accelerator-reason';

/** The metadata with what Sheaf keeps true in it; everything else stays as it is. */
export function nodeMetadata(
  old: ObjectMeta,
  host: Pick<HostFacts, 'operatingSystem' | 'architecture'>,
  { hypervisor, accelerator }: NodeAbilities,
): ObjectMeta {
  const { operatingSystem, architecture } = host;
  const { isAvailable } = hypervisor;
  const labels = {
    ...old.labels,
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
    'kubernetes.io/hostname': old.name ?? '',
    'kubernetes.io/os': operatingSystem,
    'node-role.kubernetes.io/control-plane': 'true',
    'harvesterhci.io/managed': 'true',
    'network.harvesterhci.io/mgmt': 'true',
    cpumanager: 'false',
    'kubevirt.io/schedulable': String(isAvailable),
    [acceleratorLabel]: isAvailable ? accelerator.kind : 'none',
  };
  const annotations = {
    ...old.annotations,
    [acceleratorReasonAnnotation]: isAvailable ? accelerator.reason : hypervisor.reason,
  };
  return { ...old, labels, annotations };
}

const pressures = {
  MemoryPressure: 'memory-pressure',
  DiskPressure: 'disk-pressure',
  PIDPressure: 'pid-pressure',
};
const kept = [...Object.values(pressures), 'unschedulable', 'not-ready', 'unreachable'].map(
  (name) => `node.kubernetes.io/${name}`,
);

/** The taints that follow from a node's state, with those that others have set. */
export function nodeTaints(
  spec: NodeObject['spec'],
  conditions: readonly NodeCondition[],
  now: string,
): readonly Taint[] {
  const old = spec?.taints ?? [];
  const pressed = Object.entries(pressures)
    .filter(([type]) =>
      conditions.some((condition) => condition.type === type && condition.status === 'True'),
    )
    .map(([, name]) => name);
  const wanted = [...(spec?.unschedulable === true ? ['unschedulable'] : []), ...pressed];
  const own = wanted.map((name): Taint => {
    const key = `node.kubernetes.io/${name}`;
    const there = old.find((taint) => taint.key === key && taint.effect === 'NoSchedule');
    return there ?? { key, effect: 'NoSchedule', timeAdded: now };
  });
  return [...old.filter(({ key }) => !kept.includes(key)), ...own];
}
