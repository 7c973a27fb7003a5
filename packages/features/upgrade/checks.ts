import type { AdmissionObjects, GroupResource, KubeObject } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type {
  Addon,
  Upgrade,
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineInstance,
} from '@sheaf/api/virtualization/index';

/** What stands in the way of an upgrade. */
export interface Obstacle {
  readonly reason: 'BadRequest' | 'Conflict' | 'Invalid';
  readonly message: string;
  readonly wayOut: string;
}

export interface CheckFacts {
  readonly upgrade: Upgrade;
  readonly objects: AdmissionObjects;
}

export type Check = (facts: CheckFacts) => Obstacle | undefined;

export const resourcesOfChecks = {
  addons: { group: 'harvesterhci.io', resource: 'addons' },
  upgrades: { group: 'harvesterhci.io', resource: 'upgrades' },
  versions: { group: 'harvesterhci.io', resource: 'versions' },
  backups: { group: 'harvesterhci.io', resource: 'virtualmachinebackups' },
  schedules: { group: 'harvesterhci.io', resource: 'schedulevmbackups' },
  machines: { group: 'kubevirt.io', resource: 'virtualmachines' },
  instances: { group: 'kubevirt.io', resource: 'virtualmachineinstances' },
  nodes: { group: '', resource: 'nodes' },
} as const satisfies Readonly<Record<string, GroupResource>>;

const { addons, upgrades, versions, backups, schedules, machines, instances, nodes } = resourcesOfChecks;

/** In their order: first what holds also for those who go round the rest. */
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
      wayOut: `Make it in the namespace ${namespace}, or name another one.`,
    };
  },
  ({ objects }) => {
    const open = (objects.list(upgrades) as readonly Upgrade[]).find((each) => !isFinished(each));
    if (!open) return undefined;
    return {
      reason: 'Conflict',
      message: `the upgrade ${nameOf(open)} has not finished`,
      wayOut: `Wait for it, or delete it: kubectl delete upgrade ${open.metadata.name} -n ${open.metadata.namespace}`,
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
        wayOut: 'Wait until that is over.',
      }
    );
  },
];

/** Those of what may be running. */
export const stateChecks: readonly Check[] = [
  ({ objects }) => {
    const open = (objects.list(backups) as readonly VirtualMachineBackup[]).filter(
      ({ status }) => status?.readyToUse !== true && status?.error === undefined,
    );
    if (open.length === 0) return undefined;
    return {
      reason: 'BadRequest',
      message: `backups are in progress: ${open.map(nameOf).join(', ')}`,
      wayOut: 'Wait for them, or delete them.',
    };
  },
  ({ objects }) => {
    const going = objects.list(schedules).filter(({ spec, status }) => !isSuspended(spec, status));
    if (going.length === 0) return undefined;
    const commands = going.map(
      ({ metadata: { namespace, name } }) =>
        `kubectl patch schedulevmbackup ${name} -n ${namespace} --type merge -p '{"spec":{"suspend":true}}'`,
    );
    return {
      reason: 'BadRequest',
      message: `schedules of backups are not suspended: ${going.map(nameOf).join(', ')}`,
      wayOut: `Suspend them: ${commands.join('; ')}`,
    };
  },
  ({ objects }) => addonObstacle(objects.list(addons)),
  ({ objects }) => nodeObstacle(objects.list(nodes)),
  ({ objects }) => machineObstacle(objects),
];

/** An add-on is in the way while it is neither off nor deployed. */
function addonObstacle(objects: readonly KubeObject[]): Obstacle | undefined {
  const open = (objects as readonly Addon[]).filter((addon) => !isAtRest(addon));
  if (open.length === 0) return undefined;
  return {
    reason: 'BadRequest',
    message: `add-ons are not at rest: ${open.map(wordsOf).join('; ')}`,
    wayOut: `Wait for those in progress, or switch them off: ${open.map(offCommand).join('; ')}`,
  };
}

function isAtRest({ spec, status }: Addon): boolean {
  const state = status?.status ?? '';
  return spec.enabled ? state === 'AddonDeploySuccessful' : state === '' || state === 'AddonDisabled';
}

function wordsOf(addon: Addon): string {
  const { spec, status } = addon;
  const telling = status?.conditions?.find(
    ({ type, status: is }) => is === 'True' && (type === 'OperationFailed' || type === 'InProgress'),
  );
  const why = telling?.message ? ` (${telling.message})` : '';
  const wish = spec.enabled ? 'enabled' : 'disabled';
  return `addon ${nameOf(addon)} is ${wish} but still in state ${status?.status ?? ''}${why}`;
}

function offCommand({ metadata: { namespace, name } }: Addon): string {
  return `kubectl patch addon ${name} -n ${namespace} --type merge -p '{"spec":{"enabled":false}}'`;
}

function nodeObstacle(objects: readonly KubeObject[]): Obstacle | undefined {
  const bad = (objects as readonly NodeObject[]).filter(({ spec, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status !== 'True' || spec?.unschedulable === true;
  });
  if (bad.length === 0) return undefined;
  return {
    reason: 'BadRequest',
    message: `nodes are not ready, or take nothing: ${bad.map(({ metadata }) => metadata.name).join(', ')}`,
    wayOut: `Mend them, or let them take machines again: ${bad.map(({ metadata }) => `kubectl uncordon ${metadata.name}`).join('; ')}`,
  };
}

/** On one node machines are stopped anyway; on several they move. */
function machineObstacle(objects: AdmissionObjects): Obstacle | undefined {
  const plugged = pluggedMachines(objects);
  if (plugged.length > 0)
    return {
      reason: 'Invalid',
      message: `machines have volumes that are plugged in and would be lost: ${plugged.join(', ')}`,
      wayOut: 'Unplug them, or make them part of the machine (virtctl addvolume --persist).',
    };
  if (objects.list(nodes).length < 2) return undefined;
  const fixed = (objects.list(instances) as readonly VirtualMachineInstance[]).filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'LiveMigratable' && is === 'False'),
  );
  if (fixed.length === 0) return undefined;
  return {
    reason: 'Invalid',
    message: `machines cannot be moved: ${fixed.map(nameOf).join(', ')}`,
    wayOut: `Stop them: ${fixed.map(({ metadata }) => `virtctl stop ${metadata.name} -n ${metadata.namespace}`).join('; ')}`,
  };
}

function pluggedMachines(objects: AdmissionObjects): readonly string[] {
  if (objects.list(nodes).length < 2) return [];
  const all = objects.list(machines) as readonly VirtualMachine[];
  return all.filter(({ status }) => (status?.volumeRequests ?? []).length > 0).map(nameOf);
}

function isFinished({ status }: Upgrade): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: is }) => type === 'Completed' && (is === 'True' || is === 'False'),
    ) === true
  );
}

function isSuspended(spec: unknown, status: unknown): boolean {
  const wanted = (spec as { readonly suspend?: boolean } | undefined)?.suspend;
  const now = (status as { readonly suspended?: boolean } | undefined)?.suspended;
  return wanted === true || now === true;
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`;
}
