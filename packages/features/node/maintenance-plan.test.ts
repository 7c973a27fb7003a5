import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  drainForcedAnnotation,
  drainRequestedAnnotation,
  maintainStatusAnnotation,
  type NodeObject,
  shutdownBootAnnotation,
} from '@sheaf/api/node/index';
import type { VirtualMachine, VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import type { Pod } from '@sheaf/api/workload/index';
import {
  markAnnotation,
  needsStartRequest,
  revived,
  strategyLabel,
  withStartRequest,
} from './machine-power.ts';
import { type MaintenancePlan, planMaintenance, withoutMaintenance } from './maintenance-plan.ts';

const requested = { [drainRequestedAnnotation]: 'true' };
const running = { ...requested, [maintainStatusAnnotation]: 'running' };

function nodeOf(annotations: Record<string, string>, spec: NodeObject['spec'] = {}): NodeObject {
  return { metadata: { name: 'n', annotations }, spec, status: { nodeInfo: infoOf('boot-1') } };
}

function infoOf(bootID: string): NonNullable<NonNullable<NodeObject['status']>['nodeInfo']> {
  return { bootID } as NonNullable<NonNullable<NodeObject['status']>['nodeInfo']>;
}

function machineOf(
  name: string,
  strategy?: string,
  spec: object = { runStrategy: 'Always' },
): VirtualMachine {
  const labels = strategy === undefined ? {} : { [strategyLabel]: strategy };
  return {
    metadata: { namespace: 'default', name, uid: `vm-${name}`, labels },
    spec: { template: { spec: { domain: { devices: {} } } }, ...spec },
  };
}

function instanceOf(name: string, changes: object = {}): VirtualMachineInstance {
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid: `vm-${name}` };
  return {
    metadata: { namespace: 'default', name, uid: `vmi-${name}`, ownerReferences: [owner] },
    spec: { domain: { devices: {} } },
    status: { phase: 'Running', nodeName: 'n', ...changes },
  };
}

const names = ['off', 'back', 'enable', 'move'];
const machines = [
  machineOf('off', 'Shutdown'),
  machineOf('back', 'ShutdownAndRestartAfterDisable', { runStrategy: 'Manual' }),
  machineOf('enable', 'ShutdownAndRestartAfterEnable', { running: true }),
  machineOf('move'),
];
const instances = names.map((name) => instanceOf(name));
const closed = { unschedulable: true };

/** Who is stopped, and who of them comes back. */
function stopped({ steps }: MaintenancePlan): Record<string, string> {
  const all = steps.flatMap((step): [string, string][] => {
    if (step.action === 'delete-instance') return [[step.instance.metadata.name ?? '', 'deleted']];
    if (step.action !== 'stop-machine') return [];
    const { metadata, spec } = step.machine;
    assert.ok(spec.runStrategy === 'Halted' || spec.running === false);
    return [[metadata.name ?? '', metadata.annotations?.[markAnnotation] ?? 'stays off']];
  });
  return Object.fromEntries(all);
}

describe('a node in maintenance', () => {
  it('has pods evicted that come back by themselves, and waits for them', () => {
    const podOf = (name: string, kind?: string, changes: object = {}): Pod => ({
      metadata: {
        namespace: 'default',
        name,
        ...(kind !== undefined && {
          ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'o', uid: 'o', controller: true }],
        }),
        ...changes,
      },
      spec: { containers: [], nodeName: 'n' },
      status: { phase: 'Running' },
    });
    const pods = [
      podOf('web', 'ReplicaSet'),
      podOf('going', 'ReplicaSet', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      podOf('agent', 'DaemonSet'),
      podOf('bare'),
    ];
    const facts = { node: nodeOf(running, closed), machines: [], instances: [] };
    const { steps, condition } = planMaintenance({ ...facts, pods });
    const evicted = steps.flatMap((step) => (step.action === 'evict-pod' ? [step.pod.metadata.name] : []));
    assert.deepEqual(evicted, ['web']);
    assert.deepEqual(
      [condition?.reason, condition?.message],
      ['Draining', 'Waits for the pods default/going, default/web to end; a disruption budget may hold them'],
    );
    const rest = planMaintenance({ ...facts, pods: pods.slice(2) });
    assert.equal(rest.condition?.reason, 'Completed');
  });

  it('is closed before anything is stopped', () => {
    const { steps } = planMaintenance({ node: nodeOf(requested), machines, instances });
    const [first] = steps;
    assert.ok(first?.action === 'update-node');
    assert.deepEqual(first.node.spec, closed);
    assert.deepEqual(first.node.metadata.annotations, running);
  });

  it('stops what its label lets it stop, and tells who is in the way', () => {
    const plan = planMaintenance({ node: nodeOf(running, closed), machines, instances });
    assert.deepEqual(stopped(plan), { off: 'stays off', back: 'n', enable: 'n' });
    assert.equal(plan.condition?.reason, 'Blocked');
    assert.match(plan.condition?.message ?? '', /^default\/move would have to move.*drain-forced=true$/);
  });

  it('stops all of them when it is forced, also those that no virtual machine owns', () => {
    const node = nodeOf({ ...running, [drainForcedAnnotation]: 'true' }, closed);
    const bare: VirtualMachineInstance = { ...instanceOf('bare'), metadata: { name: 'bare', uid: 'b' } };
    const plan = planMaintenance({ node, machines, instances: [...instances, bare] });
    assert.deepEqual(stopped(plan), {
      off: 'stays off',
      back: 'n',
      enable: 'n',
      move: 'stays off',
      bare: 'deleted',
    });
    assert.equal(plan.condition?.reason, 'Draining');
  });

  it('whose host is to be shut down stops all, and all but those that stay off come back', () => {
    const node = nodeOf({ ...running, [shutdownBootAnnotation]: 'boot-1' }, closed);
    assert.deepEqual(stopped(planMaintenance({ node, machines, instances })), {
      off: 'stays off',
      back: 'n',
      enable: 'n',
      move: 'n',
    });
  });

  it('asks nobody twice, and is completed when nobody is left', () => {
    const node = nodeOf(running, closed);
    const halted = [machineOf('off', 'Shutdown', { runStrategy: 'Halted' })];
    const waits = planMaintenance({ node, machines: halted, instances: [instanceOf('off')] });
    assert.deepEqual([waits.steps, waits.condition?.reason], [[], 'Draining']);
    const others = [instanceOf('a', { phase: 'Succeeded' }), instanceOf('b', { nodeName: 'other' })];
    const done = planMaintenance({ node, machines: halted, instances: others });
    assert.deepEqual([done.condition?.status, done.condition?.reason], ['True', 'Completed']);
    const [last] = done.steps;
    assert.ok(last?.action === 'update-node');
    assert.equal(last.node.metadata.annotations?.[maintainStatusAnnotation], 'completed');
    assert.deepEqual(planMaintenance({ node: last.node, machines: halted, instances: others }).steps, []);
  });
});

describe('a node after its maintenance', () => {
  const marked = (name: string, spec: object, annotations: object = {}): VirtualMachine => {
    const machine = machineOf(name, 'ShutdownAndRestartAfterDisable', spec);
    return {
      ...machine,
      metadata: { ...machine.metadata, annotations: { [markAnnotation]: 'n', ...annotations } },
    };
  };

  it('is open again and keeps what has nothing to do with it', () => {
    const taints = ['kubevirt.io/drain', 'node.kubernetes.io/unschedulable', 'mine'].map((key) => ({
      key,
      effect: 'NoSchedule',
    }));
    const { metadata, spec } = withoutMaintenance(
      nodeOf({ ...running, [drainForcedAnnotation]: 'true', rack: 'b' }, { ...closed, taints }),
    );
    assert.deepEqual(
      [metadata.annotations, spec],
      [{ rack: 'b' }, { taints: [{ key: 'mine', effect: 'NoSchedule' }] }],
    );
  });

  it('starts those that were marked with it, and no others', () => {
    const all = [
      marked('a', { runStrategy: 'Halted' }),
      machineOf('b'),
      marked('c', {}, { [markAnnotation]: 'm' }),
    ];
    const { steps, condition } = planMaintenance({ node: nodeOf({}), machines: all, instances: [] });
    assert.deepEqual(
      steps.map((step) => [step.action, 'machine' in step && step.machine.metadata.name]),
      [['start-machine', 'a']],
    );
    assert.equal(condition, undefined);
  });

  it('gives each machine the strategy that it had', () => {
    const last = (strategy: string): object => ({ 'harvesterhci.io/vmRunStrategy': strategy });
    const halted = { runStrategy: 'Halted' };
    const after = (machine: VirtualMachine): unknown[] => {
      const { spec, metadata } = revived(machine);
      return [
        spec.runStrategy ?? spec.running,
        metadata.annotations?.[markAnnotation],
        needsStartRequest(machine),
      ];
    };
    assert.deepEqual(
      [
        after(marked('a', halted, last('Always'))),
        after(marked('b', halted, last('Manual'))),
        after(marked('c', halted)),
        after(marked('d', { running: false })),
        after(marked('e', { runStrategy: 'Once' }, last('Manual'))),
      ],
      [
        ['Always', undefined, false],
        ['Manual', undefined, true],
        ['RerunOnFailure', undefined, false],
        [true, undefined, false],
        ['Once', undefined, false],
      ],
    );
    const asked = withStartRequest(marked('b', halted, last('Manual')));
    assert.deepEqual(asked.status?.stateChangeRequests, [{ action: 'Start' }]);
    assert.equal(withStartRequest(asked), asked);
  });

  it('comes after another boot by itself, however far the shutdown had come', () => {
    const annotations = { ...running, [shutdownBootAnnotation]: 'boot-0' };
    const node = nodeOf(annotations, closed);
    const { steps } = planMaintenance({ node, machines, instances });
    assert.deepEqual(steps, [{ action: 'update-node', node: withoutMaintenance(node) }]);
    for (const boot of ['boot-0', '']) {
      const same = { ...node, status: { nodeInfo: infoOf(boot) } };
      assert.equal(planMaintenance({ node: same, machines, instances: [] }).condition?.reason, 'Completed');
    }
  });
});
