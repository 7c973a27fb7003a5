import { createHash } from 'node:crypto';
import type { KubeObject } from '@sheaf/api';
import { memoryAnnotationOf } from './memory-start.ts';
import { isPausedStartRequested } from './state-change-requests.ts';
import {
  generationAnnotation,
  machineFinalizer,
  madeUnderAnnotation,
  ownerReferenceTo,
  processFinalizer,
  runStrategyOf,
  type StateChangeRequest,
  type VirtualMachine,
  type VirtualMachineInstance,
} from './virtual-machine.ts';

/** The name space in which KubeVirt makes a system UUID from the name of a virtual machine: one that moves here keeps its own. */
const systemUuidSpace = '6a1a24a1406146078bf4a3963d0c5895';

/** A version 5 UUID: the same name gives the same one. */
export function systemUuidOf(name: string): string {
  const digest = createHash('sha1').update(Buffer.from(systemUuidSpace, 'hex')).update(name).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** The instance that carries out a start of the machine as it is now. */
export function newInstance(
  machine: VirtualMachine,
  requests: readonly StateChangeRequest[],
): VirtualMachineInstance {
  const { metadata, spec } = machine;
  const { name = '', namespace = '' } = metadata;
  const template = spec.template;
  const uuid = template.spec.domain.firmware?.uuid ?? systemUuidOf(name);
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      namespace,
      labels: { ...template.metadata?.labels },
      annotations: {
        ...template.metadata?.annotations,
        [generationAnnotation]: String(metadata.generation ?? 1),
        [madeUnderAnnotation]: runStrategyOf(spec),
        ...memoryAnnotationOf(machine),
      },
      finalizers: [machineFinalizer, processFinalizer],
      ownerReferences: [ownerReferenceTo(machine)],
    },
    spec: {
      ...template.spec,
      ...(isPausedStartRequested(requests) ? { startStrategy: 'Paused' as const } : {}),
      domain: { ...template.spec.domain, firmware: { ...template.spec.domain.firmware, uuid } },
    },
    status: { virtualMachineRevisionName: revisionNameOf(machine) },
  };
}

export function revisionNameOf({ metadata }: VirtualMachine): string {
  return `${revisionNamePrefix(metadata.uid ?? '')}${metadata.generation ?? 1}`;
}

/** What the names of all revisions of one machine begin with; the generation follows. */
export function revisionNamePrefix(machineUid: string): string {
  return `revision-start-vm-${machineUid}-`;
}

/** What the machine was like when an instance was made from it: later changes are compared with it. */
export function newRevision(machine: VirtualMachine): KubeObject {
  const { metadata, spec } = machine;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionNameOf(machine),
      namespace: metadata.namespace ?? '',
      ownerReferences: [ownerReferenceTo(machine)],
    },
    data: { spec },
    revision: metadata.generation ?? 1,
  };
}
