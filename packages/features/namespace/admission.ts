import {
  type AdmissionObjects,
  type AdmissionRule,
  type AdmissionVerdict,
  allow,
  deny,
  type KubeObject,
} from '@sheaf/api';

/** With the namespace's own name as its value, it may be deleted together with its machines. */
const confirmationAnnotation = 'sheaf.dev/confirm-deletion';
const machines = { group: 'kubevirt.io', resource: 'virtualmachines' };
const namedAtMost = 5;

/** Keeps virtual machines, and the disks that go with them, from being deleted by accident with their namespace. */
export const namespaceRule: AdmissionRule = {
  name: 'namespace-of-machines',
  targets: [{ group: '', resource: 'namespaces' }],
  operations: ['DELETE'],
  reads: [machines],
  validate: (_object, old, { objects }) => (old ? verdict(old, objects) : allow()),
};

function verdict({ metadata }: KubeObject, objects: AdmissionObjects): AdmissionVerdict {
  const { name = '', annotations, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined || annotations?.[confirmationAnnotation] === name) return allow();
  // Those that are being deleted have been consented to.
  const kept = objects
    .list(machines, name)
    .filter((machine) => machine.metadata.deletionTimestamp === undefined);
  if (kept.length === 0) return allow();
  const names = kept.map((machine) => machine.metadata.name ?? '').sort();
  return deny({
    reason: 'Forbidden',
    message: `Namespace ${name} holds ${countText(names)}, which would be ended and deleted with it, and their volumes too`,
    wayOut: `If that is what you want, run \`kubectl annotate namespace ${name} ${confirmationAnnotation}=${name}\` first.`,
  });
}

function countText(names: readonly string[]): string {
  const shown = names.slice(0, namedAtMost).join(', ');
  const more = names.length > namedAtMost ? ` and ${names.length - namedAtMost} more` : '';
  return `${names.length} virtual machine${names.length === 1 ? '' : 's'} (${shown}${more})`;
}
