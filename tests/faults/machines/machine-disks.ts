import type { KubeObject } from '@sheaf/api';
import { at } from '../../e2e/installation.ts';

export interface DiskOfMachine {
  readonly name: string;
  readonly claim: string;
}

/** The disks of a virtual machine, or of an instance, that are claims, in its order. */
export function disksOf(machine: KubeObject | undefined): readonly DiskOfMachine[] {
  const volumes = at(machine, 'spec', 'template', 'spec', 'volumes') ?? at(machine, 'spec', 'volumes');
  if (!Array.isArray(volumes)) return [];
  return volumes.flatMap((volume) => {
    const claim = at(volume, 'persistentVolumeClaim', 'claimName');
    return typeof claim === 'string' ? [{ name: String(at(volume, 'name')), claim }] : [];
  });
}

/** The path under which Harvester's clients delete a machine with all its disks. */
export function removalPath(machine: KubeObject): string {
  const { namespace = '', name = '' } = machine.metadata;
  const disks = disksOf(machine).map((disk) => `removedDisks=${disk.name}`);
  return `/v1/harvester/kubevirt.io.virtualmachines/${namespace}/${name}?${disks.join('&')}`;
}
