import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeObject } from '@sheaf/api/node/index';
import type { Pod } from '@sheaf/api/workload/index';
import type { MachineObservation } from '@sheaf/ports';
import { type Growth, growthObstacleOf, type NodeFacts, obstacleOf } from './node-room.ts';
import { StartLedger } from './start-ledger.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

const gibibyte = 2 ** 30;

function instance(uid: string, guest = '1Gi'): VirtualMachineInstance {
  return {
    metadata: { namespace: 'default', name: uid, uid },
    spec: { domain: { cpu: { cores: 2 }, memory: { guest }, devices: {} } },
  };
}

function machine(id: string, state: MachineObservation['state'] = 'running'): MachineObservation {
  return {
    id,
    title: '',
    state,
    startedAt: 0,
    devices: [],
    forwards: [],
    sockets: 1,
    memoryBytes: gibibyte,
    isAgentConnected: false,
    guestResets: 0,
  };
}

function nodeOf(spec: NodeObject['spec'] = {}, cpu = '4'): NodeObject {
  return { metadata: { name: 'n' }, spec, status: { allocatable: { cpu, memory: '3Gi', pods: '0' } } };
}

function facts(changes: Partial<NodeFacts> = {}): NodeFacts {
  return {
    name: 'n',
    node: nodeOf(),
    memoryBytes: 2 * gibibyte,
    overcommit: { cpu: 1000, memory: 100, storage: 100 },
    capabilities: { hypervisor: { isAvailable: true, reason: '' }, parallelStarts: 2 },
    machines: [],
    instances: [],
    starting: new Map(),
    labelsOfNamespace: () => ({}),
    ...changes,
  };
}

const small = { cpuMillis: 200, memoryBytes: gibibyte };
const reasonFor = (changes: Partial<NodeFacts>, guest?: string): string | undefined =>
  obstacleOf(instance('new', guest), facts(changes))?.reason;

describe('a node', () => {
  it('counts pods with machines, and leaves them the claims that they have mounted', () => {
    const claimed = { name: 'd', persistentVolumeClaim: { claimName: 'data' } };
    const pod = (memory: string): Pod => ({
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        containers: [{ name: 'c', resources: { requests: { memory } } }],
        volumes: [claimed],
      },
    });
    assert.equal(reasonFor({ pods: [pod('1Gi')] }), undefined);
    assert.equal(reasonFor({ pods: [pod('2500Mi')] }), 'Unschedulable');
    const own = instance('new');
    const told = obstacleOf(
      { ...own, spec: { ...own.spec, volumes: [claimed] } },
      facts({ pods: [pod('1')] }),
    );
    assert.equal(
      told?.text,
      'The volume data is mounted by the pod default/web; to have it here, delete that pod, or give this machine another volume',
    );
  });

  it('takes what fits beside the machines that are on it', () => {
    const three = ['a', 'b', 'c'].map((id) => machine(id));
    assert.deepEqual(
      [
        reasonFor({}),
        reasonFor({ machines: three.slice(1) }),
        reasonFor({ machines: three }),
        reasonFor({ machines: three.map(({ id }) => machine(id, 'ended')) }),
        reasonFor({ machines: [machine('new', 'starting'), ...three.slice(1)] }),
        reasonFor({}, '4Gi'),
        reasonFor({ node: nodeOf({}, '100m') }),
      ],
      [undefined, undefined, 'Unschedulable', undefined, undefined, 'Unschedulable', 'Unschedulable'],
    );
  });

  it('counts a machine by what its instance requests, and twice at no time', () => {
    const large = instance('a', '2Gi');
    const grown = { ...machine('a'), memoryBytes: 2 * gibibyte };
    assert.deepEqual(
      [
        reasonFor({ machines: [grown], instances: [large] }),
        reasonFor({ machines: [grown], instances: [large] }, '2Gi'),
        reasonFor({ machines: [machine('a')] }, '2Gi'),
        reasonFor({ machines: [machine('a')], starting: new Map([['a', small]]) }, '2Gi'),
      ],
      [undefined, 'Unschedulable', undefined, undefined],
    );
  });

  it('is not waited for: until it tells what it has, its host does', () => {
    assert.deepEqual(
      [reasonFor({ node: undefined }, '2Gi'), reasonFor({ node: undefined }, '3Gi')],
      [undefined, 'Unschedulable'],
    );
  });

  it('that is cordoned, or has nothing to run machines with, says so first', () => {
    const unavailable = {
      hypervisor: { isAvailable: false, reason: 'QEMU is missing', wayOut: 'install it' },
      parallelStarts: 1,
    };
    assert.equal(reasonFor({ capabilities: unavailable }), 'HypervisorUnavailable');
    const cordoned = obstacleOf(instance('new'), facts({ node: nodeOf({ unschedulable: true }) }));
    assert.deepEqual(cordoned, {
      reason: 'Unschedulable',
      text: '0/1 nodes are available: 1 node(s) were unschedulable; to let machines start: kubectl uncordon n',
      nature: 'transient',
      object: { kind: 'Node', namespace: '', name: 'n' },
    });
  });

  it('gives the place of a claim to one of two that ask at once', () => {
    const spec = { ...instance('a').spec, volumes: [{ name: 'd', dataVolume: { name: 'data' } }] };
    const [first, second] = [
      { ...instance('a'), spec },
      { ...instance('b'), spec },
    ];
    const instances = [first, second];
    const told = (changes: Partial<NodeFacts>): string | undefined =>
      obstacleOf(second, facts({ instances, ...changes }))?.reason;
    assert.deepEqual(
      [
        told({}),
        told({ starting: new Map([['a', small]]) }),
        told({ machines: [machine('a')] }),
        told({ machines: [machine('a', 'ended')] }),
        told({ machines: [machine('b', 'starting')], starting: new Map([['b', small]]) }),
      ],
      [undefined, 'VolumeInUse', 'VolumeInUse', undefined, undefined],
    );
  });

  it('counts a machine that has not grown yet by what it has, and one that grows now by what it will have', () => {
    const large = instance('a', '3Gi');
    const growing = new Map([['a', { cpuMillis: 200, memoryBytes: 3 * gibibyte }]]);
    assert.deepEqual(
      [
        reasonFor({ machines: [machine('a')], instances: [large] }, '2Gi'),
        reasonFor({ machines: [machine('a')], instances: [large], starting: growing }, '2Gi'),
      ],
      [undefined, 'Unschedulable'],
    );
  });

  it('lets a machine grow in what there is, and says what is missing of the rest', () => {
    const own = instance('a', '3Gi');
    const here = facts({ machines: ['a', 'b'].map((id) => machine(id)), instances: [own] });
    const grow = (resource: Growth['resource'], cpuMillis: number, gibibytes: number): string | undefined =>
      growthObstacleOf(own, { resource, amounts: { cpuMillis, memoryBytes: gibibytes * gibibyte } }, here)
        ?.text;
    assert.deepEqual([grow('memory', 9e6, 2), grow('cpu', 800, 9)], [undefined, undefined]);
    assert.match(
      grow('memory', 200, 3) ?? '',
      /^0\/1 nodes are available: 1 Insufficient memory \(3Gi wanted, 2Gi of 3Gi free\)/,
    );
    assert.match(
      grow('cpu', 4000, 1) ?? '',
      /^0\/1 nodes are available: 1 Insufficient cpu \(4 wanted, 3900m of 4 free\)/,
    );
  });

  it('that is not there yet keeps those waiting that ask something of it', () => {
    const chosen = { ...instance('new'), spec: { ...instance('new').spec, nodeSelector: { disk: 'ssd' } } };
    const text = (node: NodeObject | undefined): string | undefined =>
      obstacleOf(chosen, facts({ node }))?.text;
    assert.equal(text(undefined), 'no nodes available to schedule pods');
    assert.equal(
      text(nodeOf()),
      "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector; change nodeSelector or affinity of the machine, or label the node: kubectl label node n KEY=VALUE",
    );
  });

  it('starts so many at a time', () => {
    const begun = new Map([['b', small]]);
    assert.deepEqual(
      [
        reasonFor({ machines: [machine('a', 'starting')] }),
        reasonFor({ machines: [machine('a', 'starting')], starting: begun }),
        reasonFor({ machines: [machine('b', 'starting')], starting: begun }),
        reasonFor({ machines: [machine('a'), machine('b')] }),
      ],
      [undefined, 'StartQueued', undefined, undefined],
    );
  });
});

describe('the ledger of starts', () => {
  const judged = async (ledger: StartLedger, id: string, look: () => Promise<void>): Promise<string> => {
    let seen = '';
    const obstacle = await ledger.begin(
      { id, amounts: small },
      {
        look,
        judge: (_, starting) => {
          seen = [...starting.keys()].join(' ');
          return starting.size < 2 ? undefined : 'full';
        },
      },
    );
    return `${seen}: ${obstacle ?? 'begun'}`;
  };
  const quickly = (): Promise<void> => Promise.resolve();

  it('judges by what was under way at any moment of a look, although it may be over', async () => {
    const ledger = new StartLedger();
    await judged(ledger, 'before', quickly);
    const told = await judged(ledger, 'late', async () => {
      ledger.end('before');
      await judged(ledger, 'within', quickly);
      ledger.end('within');
    });
    assert.equal(told, 'before within: full');
    assert.equal(await judged(ledger, 'later', quickly), ': begun');
  });

  it('gives a place to one of two that look at once', async () => {
    const ledger = new StartLedger();
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((id) => judged(ledger, id, quickly)));
    assert.deepEqual(all, [': begun', 'a: begun', 'a b: full', 'a b: full']);
  });
});
