import type { AdmissionObjects, KubeObject } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type {
  Addon,
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineInstance,
} from '@sheaf/api/virtualization/index';
import { type Check, commands, nameOf, type Obstacle, resourcesOfChecks } from './obstacle.ts';
import { imageObstacle, restoreObstacle, roomObstacle, volumeObstacle } from './storage-checks.ts';

const { addons, backups, schedules, machines, instances, nodes } = resourcesOfChecks;

/** Those of what may be running, in their order. */
export const stateChecks: readonly Check[] = [
  volumeObstacle,
  imageObstacle,
  restoreObstacle,
  ({ objects }) => {
    const open = (objects.list(backups) as readonly VirtualMachineBackup[]).filter(
      ({ status }) => status?.readyToUse !== true && status?.error === undefined,
    );
    if (open.length === 0) return undefined;
    return {
      reason: 'BadRequest',
      message: `backups are in progress: ${open.map(nameOf).join(', ')}`,
      wayOut: `Wait for them, or delete them: ${commands('delete', 'virtualmachinebackup', open)}`,
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
  roomObstacle,
  ({ objects }) => pluggedObstacle(objects),
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

const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

function nodeObstacle(objects: readonly KubeObject[]): Obstacle | undefined {
  const all = objects as readonly NodeObject[];
  const troubles = all.flatMap((node) =>
    troublesOf(node).map((trouble) => `${node.metadata.name} ${trouble}`),
  );
  if (troubles.length === 0) return undefined;
  const closed = all.filter(({ spec }) => spec?.unschedulable === true);
  const sick = all.filter((node) => troublesOf(node).some((trouble) => trouble !== cordoned));
  const ways = [
    ...(closed.length > 0 ? [`let them take machines again: ${commands('uncordon', '', closed)}`] : []),
    ...(sick.length > 0 ? [`see what they say: ${commands('describe', 'node', sick)}`] : []),
  ].join('; ');
  return {
    reason: 'BadRequest',
    message: `nodes are not well: ${troubles.join(', ')}`,
    wayOut: `${ways.charAt(0).toUpperCase()}${ways.slice(1)}`,
  };
}

const cordoned = 'takes nothing (cordoned)';

function troublesOf({ spec, status }: NodeObject): readonly string[] {
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const pressed = conditions.filter(({ type, status: is }) => pressures.includes(type) && is === 'True');
  return [
    ...(ready?.status === 'True' ? [] : [`is not Ready${ready?.message ? `: ${ready.message}` : ''}`]),
    ...pressed.map(({ type, message }) => `has ${type}${message ? `: ${message}` : ''}`),
    ...(spec?.unschedulable === true ? [cordoned] : []),
  ];
}

/** On one node machines are stopped anyway; on several they move. */
function machineObstacle(objects: AdmissionObjects): Obstacle | undefined {
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

function pluggedObstacle(objects: AdmissionObjects): Obstacle | undefined {
  if (objects.list(nodes).length < 2) return undefined;
  const all = objects.list(machines) as readonly VirtualMachine[];
  const plugged = all.filter(({ status }) => (status?.volumeRequests ?? []).length > 0);
  if (plugged.length === 0) return undefined;
  const unplug = plugged.map((machine) => {
    const { name, namespace } = machine.metadata;
    return `virtctl removevolume ${name} -n ${namespace} --volume-name=${pluggedVolume(machine)}`;
  });
  return {
    reason: 'Invalid',
    message: `machines have volumes that are plugged in and would be lost: ${plugged.map(nameOf).join(', ')}`,
    wayOut: `Unplug them, or make them part of the machine (--persist): ${unplug.join('; ')}`,
  };
}

function pluggedVolume({ status }: VirtualMachine): string {
  const [request] = status?.volumeRequests ?? [];
  return request?.addVolumeOptions?.name ?? request?.removeVolumeOptions?.name ?? 'VOLUME';
}

function isSuspended(spec: unknown, status: unknown): boolean {
  const wanted = (spec as { readonly suspend?: boolean } | undefined)?.suspend;
  const now = (status as { readonly suspended?: boolean } | undefined)?.suspended;
  return wanted === true || now === true;
}
