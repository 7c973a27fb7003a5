import type { VirtualMachine, VirtualMachineBackup } from '@sheaf/api/virtualization/index';

const namespace = 'default';

/** A machine that is off, with these claims as its disks. */
export function haltedMachine(
  name: string,
  parts: { readonly claims: readonly string[]; readonly secret?: string },
): VirtualMachine {
  const disks = parts.claims.map((claimName) => ({
    name: `disk-${claimName}`,
    persistentVolumeClaim: { claimName },
  }));
  const seed = { name: 'seed', cloudInitNoCloud: { secretRef: { name: parts.secret ?? '' } } };
  const volumes = parts.secret === undefined ? disks : [...disks, seed];
  return {
    metadata: { namespace, name },
    spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} }, volumes } } },
  };
}

/** A snapshot of a machine. */
export function snapshotOf(machine: string, name: string, type: 'backup' | 'snapshot'): VirtualMachineBackup {
  const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: machine };
  return { metadata: { namespace, name }, spec: { type, source } };
}
