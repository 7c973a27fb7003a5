import type { MachineEnd, MachineObservation, MachineSpec } from '@sheaf/ports';
import { type InstanceFacts, type InstancePlan, planInstance } from './instance-plan.ts';
import type { InstanceStatus, VirtualMachineInstance } from './virtual-machine.ts';

const nowMs = Date.parse('2026-01-01T00:01:00Z');
export const disk = {
  name: 'root',
  device: 'disk',
  bus: 'virtio',
  file: { path: '/v/root', format: 'raw' },
} as const;
export const nic = {
  name: 'default',
  model: 'virtio',
  mac: '52:54:00:00:00:01',
  link: { kind: 'user' },
} as const;

export const spec: MachineSpec = {
  id: 'u1',
  title: 'default/a',
  machineType: 'q35',
  cpu: { sockets: 2, cores: 1, threads: 1, maxSockets: 4 },
  memory: { bytes: 2 ** 30 },
  firmware: { kind: 'bios' },
  identity: { uuid: '00000000-0000-4000-8000-000000000000' },
  disks: [disk],
  nics: [nic],
  hasGraphics: true,
  hasSerialConsole: true,
  hasAgentChannel: true,
  hasRandomSource: false,
  hasBalloon: true,
};

export const up: MachineObservation = {
  id: 'u1',
  title: 'default/a',
  state: 'running',
  startedAt: 0,
  devices: [
    { name: 'root', kind: 'disk', path: '/v/root', isLeaving: false },
    { name: 'default', kind: 'nic', isLeaving: false },
  ],
  forwards: [],
  sockets: 2,
  memoryBytes: 2 ** 30,
  isAgentConnected: true,
  guestResets: 0,
};

export interface Given {
  readonly status?: InstanceStatus;
  readonly observation?: MachineObservation;
  readonly deletedSecondsAgo?: number;
  readonly grace?: number;
  readonly madeMsAgo?: number;
  readonly facts?: Partial<InstanceFacts>;
}

/** What is planned for an instance that is ready to start, but for what is given. */
export function plan(given: Given): InstancePlan {
  const { status = {}, observation, deletedSecondsAgo, grace = 30, madeMsAgo = 60_000, facts = {} } = given;
  const deletion =
    deletedSecondsAgo === undefined
      ? {}
      : { deletionTimestamp: new Date(nowMs - deletedSecondsAgo * 1000).toISOString() };
  const instance: VirtualMachineInstance = {
    metadata: {
      namespace: 'default',
      name: 'a',
      uid: 'u1',
      creationTimestamp: new Date(nowMs - madeMsAgo).toISOString(),
      finalizers: ['foregroundDeleteVirtualMachine', 'kubevirt.io/virtualMachineControllerFinalize'],
      ...deletion,
    },
    spec: {
      domain: { devices: {} },
      terminationGracePeriodSeconds: grace,
      volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'c' } }],
    },
    status,
  };
  return planInstance({
    instance,
    hasOwner: true,
    observation,
    preparation: { state: 'ready', spec, warnings: [] },
    nodeName: 'node-1',
    obstacle: undefined,
    guest: undefined,
    liveMigration: { isAvailable: false, reason: 'there is one node', wayOut: 'add a second node' },
    nowMs,
    ...facts,
  });
}

export function ended(end: MachineEnd): MachineObservation {
  return { ...up, state: 'ended', end };
}

export function conditionsOf({ status }: InstancePlan): readonly string[] {
  return (status.conditions ?? []).map(({ type, status: value, reason }) =>
    [type, value, reason].filter(Boolean).join(' '),
  );
}
