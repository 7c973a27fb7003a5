import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeObject } from '@sheaf/api/node/index';
import { SimulatedHostFacts } from '@sheaf/testkit/host/index';
import { type NodeLease, planLease } from './lease.ts';
import { type NodeFacts, planForeignNode, planNode } from './plan.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const now = '2026-01-01T00:00:00Z';
const kvm = {
  hypervisor: { isAvailable: true, reason: 'QEMU 7.2' },
  accelerator: { kind: 'kvm' as const, reason: 'the probe ran' },
  bridges: { isAvailable: true, reason: '/dev/net/tun' },
};
const emulated = { ...kvm, accelerator: { kind: 'tcg' as const, reason: '/dev/kvm is not there' } };
const missing = {
  ...emulated,
  hypervisor: { isAvailable: false, reason: 'QEMU is not installed', wayOut: 'install it' },
};

const podman = {
  areWanted: true,
  containers: { isAvailable: true, reason: 'podman 4.3.1 with runc' },
  version: 'podman 4.3.1',
};

function facts(changes: Partial<NodeFacts> = {}): NodeFacts {
  const { facts: host } = new SimulatedHostFacts();
  const abilities = { abilities: kvm, containers: podman };
  return { name: 'node-1', observed: undefined, host, ...abilities, version: 'v1.36.0', nowMs, ...changes };
}

/** The node as it is kept once a plan has been carried out. */
function settled(changes: Partial<NodeFacts> = {}): NodeObject {
  const { object, status } = planNode(facts(changes));
  const node = object ?? changes.observed ?? { metadata: {} };
  return { ...node, status: status ?? node.status ?? {} };
}

function claims({ status }: NodeObject): Record<string, string> {
  return Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason ?? ''}`]),
  );
}

describe('the node of this host', () => {
  it('is made with its labels and says what its host has', () => {
    const { metadata, spec, status } = settled();
    assert.deepEqual(metadata.labels, {
      'beta.kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': 'node-1',
      'kubernetes.io/os': 'linux',
      'node-role.kubernetes.io/control-plane': 'true',
      'harvesterhci.io/managed': 'true',
      'network.harvesterhci.io/mgmt': 'true',
      cpumanager: 'false',
      'kubevirt.io/schedulable': 'true',
      'sheaf.dev/accelerator': 'kvm',
    });
    assert.deepEqual(metadata.annotations, { 'sheaf.dev/accelerator-reason': 'the probe ran' });
    assert.deepEqual(spec, {});
    const { conditions: _, nodeInfo, ...rest } = status ?? {};
    assert.deepEqual(rest, {
      capacity: {
        cpu: '4',
        memory: '16Gi',
        'ephemeral-storage': '100Gi',
        pods: '110',
        'devices.kubevirt.io/kvm': '1k',
        'devices.kubevirt.io/tun': '1k',
      },
      allocatable: {
        cpu: '4',
        memory: '15Gi',
        'ephemeral-storage': '90Gi',
        pods: '110',
        'devices.kubevirt.io/kvm': '1k',
        'devices.kubevirt.io/tun': '1k',
      },
      addresses: [
        { type: 'InternalIP', address: '192.0.2.10' },
        { type: 'Hostname', address: 'node-1' },
      ],
    });
    assert.deepEqual(
      [nodeInfo?.bootID, nodeInfo?.kubeletVersion, nodeInfo?.osImage, nodeInfo?.containerRuntimeVersion],
      ['boot-1', 'v1.36.0', 'Debian GNU/Linux 12 (bookworm)', 'podman://4.3.1'],
    );
  });

  it('says whether containers can run, and has no room for pods where nobody wants them', () => {
    const of = (containers: NodeFacts['containers']): unknown[] => {
      const { status } = settled({ containers });
      const said = status?.conditions?.find(({ type }) => type === 'ContainersRunnable');
      return [status?.allocatable?.['pods'], said?.status, said?.reason, said?.message];
    };
    assert.deepEqual(of(podman), ['110', 'True', 'ContainersAvailable', 'podman 4.3.1 with runc']);
    const absent = { isAvailable: false, reason: 'podman is not installed', wayOut: 'install it' };
    const words = 'podman is not installed; needs someone: install it';
    assert.deepEqual(
      [of({ areWanted: true, containers: absent }), of({ areWanted: false, containers: absent })],
      [
        ['110', 'False', 'ContainersUnavailable', words],
        ['0', 'False', 'ContainersUnwanted', words],
      ],
    );
  });

  it('says whether machines can run, and with what', () => {
    const of = (abilities: NodeFacts['abilities']): unknown[] => {
      const node = settled({ abilities });
      const { MachinesRunnable, Accelerated, Ready } = claims(node);
      const { labels = {} } = node.metadata;
      return [
        labels['sheaf.dev/accelerator'],
        labels['kubevirt.io/schedulable'],
        node.status?.capacity?.['devices.kubevirt.io/kvm'],
        MachinesRunnable,
        Accelerated,
        Ready,
      ];
    };
    assert.deepEqual(of(kvm).slice(0, 5), ['kvm', 'true', '1k', 'True HypervisorAvailable', 'True KVM']);
    assert.deepEqual(of(emulated), [
      'tcg',
      'true',
      undefined,
      'True HypervisorAvailable',
      'False Emulation',
      'True HostReady',
    ]);
    assert.deepEqual(of(missing), [
      'none',
      'false',
      undefined,
      'False HypervisorUnavailable',
      'Unknown HypervisorUnavailable',
      'True HostReady',
    ]);
  });

  it('is under pressure, is not, or does not know', () => {
    const pressures = (host: Partial<NodeFacts['host']>): unknown[] => {
      const node = settled({ host: { ...facts().host, ...host } });
      const { MemoryPressure, DiskPressure, PIDPressure } = claims(node);
      return [MemoryPressure, DiskPressure, PIDPressure, (node.spec?.taints ?? []).map(({ key }) => key)];
    };
    assert.deepEqual(pressures({}), [
      'False HasSufficientMemory',
      'False HasSufficientDisk',
      'False HasSufficientPID',
      [],
    ]);
    assert.deepEqual(
      pressures({
        availableMemoryBytes: 1,
        disk: { totalBytes: 100, availableBytes: 9 },
        processes: { count: 96, limit: 100 },
      }),
      [
        'True HasInsufficientMemory',
        'True HasInsufficientDisk',
        'True HasInsufficientPID',
        ['memory', 'disk', 'pid'].map((name) => `node.kubernetes.io/${name}-pressure`),
      ],
    );
    assert.deepEqual(pressures({ availableMemoryBytes: undefined, disk: undefined, processes: undefined }), [
      'Unknown NotTold',
      'Unknown NotTold',
      'Unknown NotTold',
      [],
    ]);
  });

  it('is written when something has changed, and every five minutes', () => {
    const observed = settled();
    const planned = (changes: Partial<NodeFacts>): unknown[] => {
      const { object, status } = planNode(facts({ observed, ...changes }));
      return [object !== undefined, status !== undefined];
    };
    const host = { ...facts().host, uptimeSeconds: 1e6, availableMemoryBytes: 5 * 2 ** 30 };
    assert.deepEqual(
      [
        planned({ nowMs: nowMs + 299_000, host }),
        planned({ nowMs: nowMs + 300_000 }),
        planned({ host: { ...host, cpuCount: 8 } }),
        planned({ abilities: emulated }),
      ],
      [
        [false, false],
        [false, true],
        [false, true],
        [true, true],
      ],
    );
  });

  it('keeps what others wrote, and mends what is not true', () => {
    const first = settled();
    const observed: NodeObject = {
      ...first,
      metadata: { ...first.metadata, labels: { rack: 'b', 'kubernetes.io/os': 'plan9' } },
      spec: {
        unschedulable: true,
        taints: [
          { key: 'mine', effect: 'NoSchedule' },
          { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
        ],
      },
      status: {
        ...first.status,
        capacity: { ...first.status?.capacity, 'example.com/dongle': '2' },
        conditions: [...(first.status?.conditions ?? []), { type: 'Theirs', status: 'True' }],
      },
    };
    const next = settled({ observed });
    assert.equal(next.metadata.labels?.['rack'], 'b');
    assert.equal(next.metadata.labels?.['kubernetes.io/os'], 'linux');
    assert.deepEqual(next.spec?.taints, [
      { key: 'mine', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: now },
    ]);
    assert.equal(next.status?.capacity?.['example.com/dongle'], '2');
    assert.equal(claims(next)['Theirs'], 'True ');
    assert.equal(planNode(facts({ observed: next })).object, undefined);
  });

  it('keeps its name when the host gets another one, and says so', () => {
    const node = settled({ host: { ...facts().host, hostname: 'Other' } });
    assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'node-1');
    assert.deepEqual(node.status?.addresses?.at(-1), { type: 'Hostname', address: 'Other' });
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    assert.match(ready?.message ?? '', /the host is called Other now, and its node keeps the name node-1/);
  });

  it('has a lease that is renewed every ten seconds', () => {
    const node: NodeObject = { metadata: { name: 'node-1', uid: 'u' } };
    const lease = planLease(node, undefined, nowMs) as NodeLease;
    assert.deepEqual(lease.spec, {
      holderIdentity: 'node-1',
      leaseDurationSeconds: 40,
      renewTime: '2026-01-01T00:00:00.000000Z',
    });
    const isRenewed = (at: number, of = node): boolean => planLease(of, lease, nowMs + at) !== undefined;
    const another = { metadata: { name: 'node-1', uid: 'v' } };
    assert.deepEqual(
      [isRenewed(0), isRenewed(9999), isRenewed(10_000), isRenewed(-60_000), isRenewed(0, another)],
      [false, false, true, true, true],
    );
  });
});

describe('a node of another name', () => {
  const observed: NodeObject = { metadata: { name: 'old', creationTimestamp: now } };
  const plan = (at: number, renewedAt?: string, node = observed) =>
    planForeignNode({ observed: node, renewedAt, ownName: 'node-1', nowMs: nowMs + at });

  it('gets a minute for its first report, and 40 s of silence', () => {
    assert.deepEqual(plan(0), { lookMs: 60_000 });
    assert.deepEqual(plan(10_000, '2026-01-01T00:00:05.000000Z'), { lookMs: 35_000 });
  });

  it('that is silent is not known any more, and says what to do', () => {
    const reported: NodeObject = {
      ...observed,
      status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: now }] },
    };
    const planned = plan(40_000, undefined, reported);
    assert.ok('status' in planned);
    assert.deepEqual(claims({ metadata: {}, status: planned.status }), {
      MemoryPressure: 'Unknown NodeStatusUnknown',
      DiskPressure: 'Unknown NodeStatusUnknown',
      PIDPressure: 'Unknown NodeStatusUnknown',
      Ready: 'Unknown NodeStatusUnknown',
    });
    const ready = planned.status.conditions?.find(({ type }) => type === 'Ready');
    assert.equal(ready?.lastHeartbeatTime, now);
    assert.match(ready.message ?? '', /This host is the node node-1; .*kubectl delete node old/);
    const told = { ...observed, status: planned.status };
    assert.deepEqual(plan(50_000, undefined, told), { lookMs: 40_000 });
  });
});
