import type { Condition } from '../meta/conditions.ts';
import type { KubeObject } from '../meta/object.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: string;
  readonly timeAdded?: string | undefined;
}

export interface NodeCondition extends Condition {
  readonly lastHeartbeatTime?: string | undefined;
}

/** Quantities by the name of their resource. */
export type ResourceQuantities = Readonly<Record<string, string>>;

export interface NodeInfo {
  readonly architecture: string;
  readonly bootID: string;
  readonly containerRuntimeVersion: string;
  readonly kernelVersion: string;
  readonly kubeProxyVersion: string;
  readonly kubeletVersion: string;
  readonly machineID: string;
  readonly operatingSystem: string;
  readonly osImage: string;
  readonly systemUUID: string;
}

/** The part of a core `Node` that Sheaf reads and writes. */
export interface NodeObject extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean | undefined;
    readonly taints?: readonly Taint[] | undefined;
  };
  readonly status?: {
    readonly capacity?: ResourceQuantities | undefined;
    readonly allocatable?: ResourceQuantities | undefined;
    readonly conditions?: readonly NodeCondition[] | undefined;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[] | undefined;
    readonly nodeInfo?: NodeInfo | undefined;
  };
}

/** Asks for the maintenance of a node: `"true"`. */
export const drainRequestedAnnotation = 'harvesterhci.io/drain-requested';
/** Machines that cannot move are stopped as well: `"true"`. */
export const drainForcedAnnotation = 'harvesterhci.io/drain-forced';
/** `running`, then `completed` once no machine is left. */
export const maintainStatusAnnotation = 'harvesterhci.io/maintain-status';
/** The host is to be shut down: the boot id that it has until then. With another one its machines come back. */
export const shutdownBootAnnotation = 'sheaf.dev/shutdown-boot-id';

export function isReady({ status }: NodeObject): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}

export function isSchedulable({ spec }: NodeObject): boolean {
  return spec?.unschedulable !== true;
}
