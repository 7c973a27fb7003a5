import {
  drainForcedAnnotation,
  isReady,
  isSchedulable,
  maintainStatusAnnotation,
  type NodeObject,
} from '@sheaf/api/node/index';
import type { VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import { type JsonObject, type JsonValue, StatusError } from '@sheaf/base';
import { strategyLabel } from './machine-power.ts';
import { isInMaintenance, withMaintenance, withoutMaintenance } from './maintenance-plan.ts';

/** What an action is about. */
export interface ActionFacts {
  readonly node: NodeObject;
  /** All, with the one. */
  readonly nodes: readonly NodeObject[];
  readonly instances: readonly VirtualMachineInstance[];
}

/** What an action comes to: the node as it is to be, or something to tell. Refusals are thrown. */
export type ActionOutcome =
  | { readonly outcome: 'write'; readonly node: NodeObject }
  | { readonly outcome: 'tell'; readonly value: JsonValue }
  | { readonly outcome: 'nothing' };

type Action = (facts: ActionFacts, body: JsonObject) => ActionOutcome;

const nothing: ActionOutcome = { outcome: 'nothing' };

/** The actions of Harvester's nodes. @throws StatusError with the way out */
export const nodeActions: Readonly<Record<string, Action>> = {
  cordon({ node, nodes }) {
    if (!isSchedulable(node)) throw invalid(`Node ${nameOf(node)} is cordoned already.`);
    refuseLast(node, nodes, `kubectl cordon ${nameOf(node)} closes it nevertheless`);
    return write({ ...node, spec: { ...node.spec, unschedulable: true } });
  },
  uncordon({ node }) {
    if (isSchedulable(node)) throw invalid(`Node ${nameOf(node)} is not cordoned.`);
    if (isInMaintenance(node))
      throw invalid(`Node ${nameOf(node)} is in maintenance. End that: disableMaintenanceMode.`);
    const { unschedulable: _, ...spec } = node.spec ?? {};
    return write({ ...node, spec });
  },
  enableMaintenanceMode({ node, nodes }, { force }) {
    if (force !== 'true' && force !== 'false')
      throw invalid('InvalidBodyContent: send {"force": "true"} or {"force": "false"}.');
    if (isInMaintenance(node)) throw invalid(`Node ${nameOf(node)} is in maintenance already.`);
    refuseLast(node, nodes, lastWayOut(node));
    return write(withMaintenance(node, force === 'true' ? { [drainForcedAnnotation]: 'true' } : {}));
  },
  disableMaintenanceMode: ({ node }) => write(withoutMaintenance(node)),
  maintenancePossible({ node, nodes }) {
    refuseLast(node, nodes, lastWayOut(node));
    return nothing;
  },
  listUnhealthyVM: (facts) => ({ outcome: 'tell', value: unmovable(facts) }),
  powerActionPossible: () => refusePower(),
  powerAction(_facts, { operation }) {
    if (operation !== 'shutdown' && operation !== 'poweron' && operation !== 'reboot')
      throw invalid('InvalidBodyContent: operation is one of shutdown, poweron and reboot.');
    return refusePower();
  },
  enableCPUManager: () =>
    refuseCpuManager('Machines get no processors of their own here: remove dedicatedCpuPlacement from them'),
  disableCPUManager: () => refuseCpuManager('The policy is none already'),
};

function write(node: NodeObject): ActionOutcome {
  return { outcome: 'write', node };
}

function nameOf({ metadata }: NodeObject): string {
  return metadata.name ?? '';
}

function lastWayOut(node: NodeObject): string {
  const name = nameOf(node);
  return `to stop its machines in order before the host goes down: sheaf shutdown; to have its maintenance all the same: kubectl annotate node ${name} harvesterhci.io/drain-requested=true, and ${maintainStatusAnnotation} tells when it is completed`;
}

/** Machines must have somewhere to go, and the control plane somewhere to stay. */
function refuseLast(node: NodeObject, nodes: readonly NodeObject[], wayOut: string): void {
  const others = nodes.filter(
    (other) => nameOf(other) !== nameOf(node) && isReady(other) && isSchedulable(other),
  );
  if (others.length > 0) return;
  throw new StatusError({
    reason: 'BadRequest',
    message: `Node ${nameOf(node)} is the last one on which machines can run; ${wayOut}`,
  });
}

function invalid(message: string): StatusError {
  return new StatusError({ reason: 'Invalid', message });
}

function refusePower(): never {
  throw new StatusError({
    reason: '',
    code: 424,
    message:
      'FailedDependency: Sheaf has no access to the power supply of its host (the addon harvester-seeder is not there); to turn the host off: sheaf shutdown, then the power switch of its system',
  });
}

function refuseCpuManager(message: string): never {
  throw new StatusError({ reason: 'BadRequest', message });
}

/** Machines for which maintenance needs a decision: there is no other node, and their label does not say that they may be stopped. */
function unmovable({ node, instances }: ActionFacts): JsonValue {
  const vms = instances
    .filter(({ status }) => status?.nodeName === nameOf(node) && status.phase === 'Running')
    .filter(({ metadata }) => (metadata.labels?.[strategyLabel] ?? 'Migrate') === 'Migrate')
    .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`)
    .toSorted();
  if (vms.length === 0) return [];
  return [
    { message: 'cannot move: machines are not migrated while they run here; stop them, or use force', vms },
  ];
}
