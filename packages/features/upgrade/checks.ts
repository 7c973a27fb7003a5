import type { Upgrade } from '@sheaf/api/virtualization/index';
import { type Check, commands, nameOf, resourcesOfChecks } from './obstacle.ts';

const { upgrades, versions } = resourcesOfChecks;

/** In their order; what holds also for those who go round the rest. */
export const firstChecks: readonly Check[] = [
  ({ upgrade: { spec } }) =>
    spec?.version || spec?.image
      ? undefined
      : {
          reason: 'BadRequest',
          message: 'neither spec.version nor spec.image is set',
          wayOut: 'Name the Version that is to be installed (kubectl get versions -n harvester-system).',
        },
  ({ upgrade: { metadata, spec }, objects }) => {
    const name = spec?.version;
    const namespace = metadata.namespace ?? '';
    if (!name || objects.find(versions, { namespace, name })) return undefined;
    return {
      reason: 'BadRequest',
      message: `there is no Version ${name}`,
      wayOut: `Make it in the namespace ${namespace}, or name another one: kubectl get versions -n ${namespace}`,
    };
  },
  ({ objects }) => {
    const open = (objects.list(upgrades) as readonly Upgrade[]).find((each) => !isFinished(each));
    if (!open) return undefined;
    return {
      reason: 'Conflict',
      message: `the upgrade ${nameOf(open)} has not finished`,
      wayOut: `Wait for it, or delete it: ${commands('delete', 'upgrade', [open])}`,
    };
  },
  ({ objects }) => {
    const pending = objects
      .list(upgrades)
      .find(({ metadata }) => metadata.labels?.['harvesterhci.io/upgradeCleanup'] === 'Pending');
    return (
      pending && {
        reason: 'Conflict',
        message: `the upgrade ${nameOf(pending)} is being cleaned up`,
        wayOut: `Wait until that is over, or delete it: ${commands('delete', 'upgrade', [pending])}`,
      }
    );
  },
];

function isFinished({ status }: Upgrade): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: is }) => type === 'Completed' && (is === 'True' || is === 'False'),
    ) === true
  );
}
