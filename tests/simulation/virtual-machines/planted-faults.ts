import { isJsonObject } from '@sheaf/base';
import type { ClientRequest } from '@sheaf/client';
import type { MachineDisk, MachineSpec } from '@sheaf/ports';

/** Faults that a test puts in, to see that they are found. */
export const plantedFaults = [
  /** Machines are started without a look at whether they run. */
  'startsUnseen',
  /** Instances are made without the finalizers that keep them until their process is gone. */
  'forgetsFinalizer',
  /** Data are removed as soon as the deletion of a claim has been asked for. */
  'removesBeforeDetach',
  /** A process that is to end goes on. */
  'losesEnds',
  /** Now and then a machine gets the file of another one, and nothing locks files. */
  'mixesFiles',
  /** Now and then a start is never answered. */
  'hangsStarts',
  /** Now and then a machine gets the file that its own lies on, as if that had been looked up before a snapshot, and nobody asks. */
  'opensBeneath',
] as const;

export type PlantedFault = (typeof plantedFaults)[number];

/** Instances as someone would make them who has forgotten their finalizers. */
export function withoutFinalizers(request: ClientRequest): ClientRequest {
  const isMaking = request.method === 'POST' && request.target.includes('/virtualmachineinstances');
  if (!isMaking) return request;
  const { body, value } = request;
  if (body !== undefined)
    return { ...request, body: body.replace(/"finalizers":\[[^\]]*\]/, '"finalizers":[]') };
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return request;
  return { ...request, value: { ...value, metadata: { ...value['metadata'], finalizers: [] } } };
}

/** A machine whose disks are the files of another one, of the same order. */
export function withFilesOf(spec: MachineSpec, others: readonly MachineDisk[]): MachineSpec {
  const written = others.filter(({ file, isReadOnly }) => file && isReadOnly !== true);
  const disks = spec.disks.map((disk, index) => {
    const file = written[index]?.file;
    return file && disk.file && disk.isReadOnly !== true ? { ...disk, file } : disk;
  });
  return { ...spec, disks };
}
