import { type AdmissionRule, allow, type KubeObject } from '@sheaf/api';
import { isSchedulable } from '@sheaf/api/node/index';
import { isInMaintenance } from './maintenance-plan.ts';

const nodes = { group: '', resource: 'nodes' };
const instances = { group: 'kubevirt.io', resource: 'virtualmachineinstances' };

/** Who cordons or drains a node with kubectl is told what that does to machines. */
export const nodeRule: AdmissionRule = {
  name: 'node',
  targets: [nodes],
  operations: ['UPDATE'],
  reads: [instances],
  validate(object, old, { objects }) {
    if (!object || !old) return allow();
    const isOpen = isSchedulable(object);
    if (isOpen === isSchedulable(old)) return allow();
    const warning = isOpen ? openingWarning(object) : closingWarning(object, objects.list(instances));
    return warning === undefined ? allow() : allow(warning);
  },
};

function closingWarning(node: KubeObject, all: readonly KubeObject[]): string | undefined {
  if (isInMaintenance(node)) return undefined;
  const { name = '' } = node.metadata;
  const count = all.filter((instance) => runsOn(instance, name)).length;
  if (count === 0) return undefined;
  const machines = count === 1 ? '1 virtual machine runs' : `${count} virtual machines run`;
  return `${machines} on node ${name} and will go on: cordon and drain do not stop machines; to stop them: kubectl annotate node ${name} harvesterhci.io/drain-requested=true`;
}

function openingWarning(node: KubeObject): string | undefined {
  if (!isInMaintenance(node)) return undefined;
  const { name = '' } = node.metadata;
  return `node ${name} is in maintenance and will be cordoned again; to end that: kubectl annotate node ${name} harvesterhci.io/drain-requested- harvesterhci.io/drain-forced- harvesterhci.io/maintain-status- && kubectl uncordon ${name}`;
}

function runsOn(instance: KubeObject, node: string): boolean {
  const status = instance['status'] as { nodeName?: unknown; phase?: unknown } | undefined;
  return status?.nodeName === node && status.phase !== 'Succeeded' && status.phase !== 'Failed';
}
