import { withHarvesterCondition } from '@sheaf/api/virtualization/harvester-conditions';
import type {
  Condition,
  VirtualMachineImage,
  VirtualMachineImageStatus,
} from '@sheaf/api/virtualization/index';

export function conditionOf({ status }: VirtualMachineImage, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isImported(image: VirtualMachineImage): boolean {
  return conditionOf(image, 'Imported')?.status === 'True';
}

export type NewCondition = Omit<Condition, 'lastUpdateTime' | 'lastTransitionTime'>;

export function withConditions(
  status: VirtualMachineImageStatus,
  now: string,
  ...added: readonly NewCondition[]
): VirtualMachineImageStatus {
  const before = status.conditions ?? [];
  const conditions = added.reduce((all, next) => withHarvesterCondition(all, next, now), before);
  return conditions === status.conditions ? status : { ...status, conditions };
}
