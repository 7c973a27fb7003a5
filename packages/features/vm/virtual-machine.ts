import type { Condition, KubeObject, OwnerReference } from '@sheaf/api';
import type { DiskSpec, InstanceSpec, VolumeSpec } from './instance-spec.ts';

export const runStrategies = [
  'Always',
  'Halted',
  'Manual',
  'RerunOnFailure',
  'Once',
  'WaitAsReceiver',
] as const;
export type RunStrategy = (typeof runStrategies)[number];

/** The order of `status.printableStatus`: the first that is true is shown. */
export type PrintableStatus =
  | 'Terminating'
  | 'Stopping'
  | 'Migrating'
  | 'Paused'
  | 'Running'
  | 'ErrorPvcNotFound'
  | 'DataVolumeError'
  | 'ErrorUnschedulable'
  | 'ErrImagePull'
  | 'Provisioning'
  | 'WaitingForVolumeBinding'
  | 'Starting'
  | 'CrashLoopBackOff'
  | 'Stopped'
  | 'WaitingForReceiver'
  | 'Unknown';

export interface VirtualMachineSpec {
  /** Of old clients; never together with `runStrategy`. */
  readonly running?: boolean | undefined;
  readonly runStrategy?: RunStrategy | undefined;
  readonly template: InstanceTemplate;
  readonly dataVolumeTemplates?: readonly KubeObject[] | undefined;
  readonly instancetype?: unknown;
  readonly preference?: unknown;
  readonly updateVolumesStrategy?: string | undefined;
}

export interface InstanceTemplate {
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>> | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly spec: InstanceSpec;
}

/** Something a user asked for once; it stays in the status until it has been done. */
export interface StateChangeRequest {
  readonly action: 'Start' | 'Stop';
  /** Which instance a `Stop` means. */
  readonly uid?: string | undefined;
  readonly data?: { readonly paused?: string | undefined } | undefined;
}

export interface StartFailure {
  readonly consecutiveFailCount: number;
  readonly lastFailedVMIUID: string;
  readonly retryAfterTimestamp: string;
}

export interface VolumeRequest {
  readonly addVolumeOptions?: AddVolumeOptions | undefined;
  readonly removeVolumeOptions?: { readonly name: string } | undefined;
}

export interface AddVolumeOptions {
  readonly name: string;
  readonly disk: Omit<DiskSpec, 'name'> & { readonly name?: string | undefined };
  readonly volumeSource: Omit<VolumeSpec, 'name'>;
}

export interface TypeRef {
  readonly kind: string;
  readonly name: string;
}

export interface VirtualMachineStatus {
  readonly instancetypeRef?: TypeRef | undefined;
  readonly preferenceRef?: TypeRef | undefined;
  readonly created?: boolean | undefined;
  readonly ready?: boolean | undefined;
  readonly printableStatus?: PrintableStatus | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly stateChangeRequests?: readonly StateChangeRequest[] | undefined;
  readonly volumeRequests?: readonly VolumeRequest[] | undefined;
  readonly startFailure?: StartFailure | undefined;
  /** The strategy that has been carried out; what is still to be done follows from its difference to the spec. */
  readonly runStrategy?: RunStrategy | undefined;
  readonly desiredGeneration?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly snapshotInProgress?: string | undefined;
}

export interface VirtualMachine extends KubeObject {
  readonly spec: VirtualMachineSpec;
  readonly status?: VirtualMachineStatus;
}

export type InstancePhase = 'Pending' | 'Scheduling' | 'Scheduled' | 'Running' | 'Succeeded' | 'Failed';

export interface InstanceInterfaceStatus {
  readonly name?: string | undefined;
  readonly mac?: string | undefined;
  readonly ipAddress?: string | undefined;
  readonly ipAddresses?: readonly string[] | undefined;
  readonly interfaceName?: string | undefined;
  readonly infoSource?: string | undefined;
  readonly linkState?: string | undefined;
}

export interface InstanceVolumeStatus {
  readonly name: string;
  readonly target: string;
  readonly phase?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly hotplugVolume?: object | undefined;
  readonly persistentVolumeClaimInfo?: { readonly claimName: string } | undefined;
}

export interface InstanceStatus {
  readonly phase?: InstancePhase | undefined;
  readonly phaseTransitionTimestamps?:
    | readonly { readonly phase: InstancePhase; readonly phaseTransitionTimestamp: string }[]
    | undefined;
  readonly reason?: string | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly nodeName?: string | undefined;
  readonly machine?: { readonly type: string } | undefined;
  readonly interfaces?: readonly InstanceInterfaceStatus[] | undefined;
  readonly guestOSInfo?: object | undefined;
  readonly volumeStatus?: readonly InstanceVolumeStatus[] | undefined;
  readonly currentCPUTopology?:
    | { readonly sockets: number; readonly cores: number; readonly threads: number }
    | undefined;
  readonly memory?:
    | {
        readonly guestAtBoot: string;
        readonly guestCurrent: string;
        readonly guestRequested: string;
      }
    | undefined;
  readonly virtualMachineRevisionName?: string | undefined;
  readonly migrationState?: { readonly completed?: boolean | undefined } | undefined;
}

export interface VirtualMachineInstance extends KubeObject {
  readonly spec: InstanceSpec;
  readonly status?: InstanceStatus;
}

/** Keeps an instance until its end is recorded in its virtual machine, and a virtual machine until its instance is gone. */
export const machineFinalizer = 'kubevirt.io/virtualMachineControllerFinalize';
/** Keeps an instance until its process has ended and its traces are removed. */
export const processFinalizer = 'foregroundDeleteVirtualMachine';

export const generationAnnotation = 'kubevirt.io/vm-generation';
/** Under which strategy an instance was made: tells, whenever one looks, whether the strategy has been carried out. */
export const madeUnderAnnotation = 'sheaf.dev/made-under-run-strategy';

/** Admission sees to it that one of the two is set. */
export function runStrategyOf({ runStrategy, running }: VirtualMachineSpec): RunStrategy {
  return runStrategy ?? (running === true ? 'Always' : 'Halted');
}

/** No processor of it will run again. */
export function isFinal(instance: VirtualMachineInstance | undefined): boolean {
  return instance?.status?.phase === 'Succeeded' || instance?.status?.phase === 'Failed';
}

export function isDeleting(object: KubeObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

/** It runs or is on its way to run, and nobody has asked for its end. */
export function isAlive(instance: VirtualMachineInstance | undefined): boolean {
  return instance !== undefined && !isFinal(instance) && !isDeleting(instance);
}

export function hasEverRun(instance: VirtualMachineInstance): boolean {
  return instance.status?.phaseTransitionTimestamps?.some(({ phase }) => phase === 'Running') === true;
}

/** Makes an object the machine's own: it goes with it. */
export function ownerReferenceTo({ metadata }: VirtualMachine): OwnerReference {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The UID of what made an instance. */
export function ownerUidOf({ metadata }: VirtualMachineInstance): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

export function isControlledBy(instance: VirtualMachineInstance, machine: VirtualMachine): boolean {
  const uid = ownerUidOf(instance);
  return uid !== undefined && uid === machine.metadata.uid;
}
