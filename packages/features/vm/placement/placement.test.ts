import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeObject } from '@sheaf/api/node/index';
import {
  type Affinity,
  asksOfNodes,
  type NodeRequirement,
  nodeMisfitOf,
  type PeerTerm,
  type PlacementSpec,
  peerMisfitOf,
  type SpreadConstraint,
} from '@sheaf/api/placement/index';
import type { DiskSpec, VolumeSpec } from '../instance-spec.ts';
import type { VirtualMachineInstance } from '../virtual-machine.ts';
import { asPod } from './as-pod.ts';
import { heldClaimOf } from './held-claim.ts';

const hostname = 'kubernetes.io/hostname';
const node: NodeObject = {
  metadata: { name: 'n', labels: { [hostname]: 'n', disk: 'ssd', rank: '7', empty: '' } },
};

const misfit = (spec: PlacementSpec, on: NodeObject['spec'] = {}): string | undefined =>
  nodeMisfitOf(spec, { ...node, spec: on }, 'machine')?.text;

function required(...matchExpressions: readonly NodeRequirement[]): PlacementSpec {
  const nodeSelectorTerms = [{ matchExpressions }];
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
}

describe('what a machine asks of its node', () => {
  const notMatched = "1 node(s) didn't match Pod's node affinity/selector";

  it('in labels, is all there or it is not its node', () => {
    const fits = (nodeSelector: Record<string, string>): string | undefined => misfit({ nodeSelector });
    assert.deepEqual(
      [fits({}), fits({ disk: 'ssd', empty: '' }), fits({ disk: 'ssd', zone: 'a' }), fits({ disk: 'hdd' })],
      [undefined, undefined, notMatched, notMatched],
    );
  });

  it('in expressions, with each operator', () => {
    const rows: readonly [NodeRequirement, boolean][] = [
      [{ key: 'disk', operator: 'In', values: ['hdd', 'ssd'] }, true],
      [{ key: 'disk', operator: 'NotIn', values: ['ssd'] }, false],
      [{ key: 'zone', operator: 'NotIn', values: ['a'] }, true],
      [{ key: 'zone', operator: 'Exists' }, false],
      [{ key: 'zone', operator: 'DoesNotExist' }, true],
      [{ key: 'rank', operator: 'Gt', values: ['6'] }, true],
      [{ key: 'rank', operator: 'Lt', values: ['7'] }, false],
      [{ key: 'disk', operator: 'Like', values: ['ssd'] }, false],
    ];
    for (const [requirement, isMet] of rows)
      assert.equal(
        misfit(required(requirement)),
        isMet ? undefined : notMatched,
        JSON.stringify(requirement),
      );
  });

  it('in terms, of which one is enough, and an empty one is none', () => {
    const terms = (nodeSelectorTerms: readonly object[]): string | undefined =>
      misfit({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [...nodeSelectorTerms] },
          },
        },
      });
    const here = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] };
    const nowhere = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['m'] }] };
    assert.deepEqual(
      [terms([here]), terms([nowhere]), terms([nowhere, here]), terms([{}]), terms([])],
      [undefined, notMatched, undefined, notMatched, notMatched],
    );
  });

  it('as Harvester writes it for networks, is left to the network itself', () => {
    const written = required(
      { key: 'network.harvesterhci.io/vlan', operator: 'In', values: ['true'] },
      { key: 'cpumanager', operator: 'In', values: ['true'] },
    );
    assert.equal(misfit(written), undefined);
  });

  it('can be known without the node', () => {
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] } as Affinity['nodeAffinity'];
    assert.deepEqual(
      [
        asksOfNodes({}),
        asksOfNodes({ nodeSelector: {}, affinity: { nodeAffinity: preferred } }),
        asksOfNodes({ nodeSelector: { disk: 'ssd' } }),
        asksOfNodes(required()),
      ],
      [false, false, true, true],
    );
  });
});

describe('a taint', () => {
  const taints = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }];
  const kept = '1 node(s) had untolerated taint {gpu: yes}';

  it('keeps out what does not tolerate it', () => {
    const told = (...tolerations: NonNullable<PlacementSpec['tolerations']>): string | undefined =>
      misfit({ tolerations }, { taints });
    assert.deepEqual(
      [
        told(),
        told({ key: 'gpu', value: 'yes' }),
        told({ key: 'gpu', operator: 'Equal', value: 'no' }),
        told({ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }),
        told({ key: 'gpu', operator: 'Exists' }),
        told({ operator: 'Exists' }),
      ],
      [kept, undefined, kept, kept, undefined, undefined],
    );
  });

  it('that only prefers, or says that the node is short of something, keeps nothing out', () => {
    const pressed = { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' };
    assert.equal(misfit({}, { taints: [{ key: 'a', effect: 'PreferNoSchedule' }, pressed] }), undefined);
  });

  it('of a cordon can be tolerated as well', () => {
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    const cordoned = {
      unschedulable: true,
      taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
    };
    assert.equal(misfit({}, cordoned), '1 node(s) were unschedulable');
    assert.equal(misfit({ tolerations }, cordoned), undefined);
  });
});

interface Peer extends PlacementSpec {
  readonly labels?: Record<string, string>;
  readonly volumes?: readonly VolumeSpec[];
  readonly disks?: readonly DiskSpec[];
}

function instance(
  key: string,
  { labels = {}, volumes = [], disks = [], ...spec }: Peer = {},
): VirtualMachineInstance {
  const [namespace = '', name = ''] = key.split('/');
  return {
    metadata: { namespace, name, uid: key, labels },
    spec: { ...spec, volumes, domain: { devices: { disks } } },
  };
}

describe('what a machine asks of its company', () => {
  const web = { app: 'web' };
  const term = (changes: Partial<PeerTerm> = {}): PeerTerm => ({
    topologyKey: hostname,
    labelSelector: { matchLabels: web },
    ...changes,
  });
  const asks = (field: 'podAffinity' | 'podAntiAffinity', ...terms: readonly PeerTerm[]): PlacementSpec => ({
    affinity: { [field]: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  });
  const labelsOfNamespace = (name: string): Record<string, string> => ({ team: name });
  const told = (
    one: VirtualMachineInstance,
    ...peers: readonly VirtualMachineInstance[]
  ): string | undefined =>
    peerMisfitOf(asPod(one), { node, peers: peers.map(asPod), labelsOfNamespace, noun: 'machine' })?.text;

  it('is kept apart from, in both directions', () => {
    const alone = instance('a/new', asks('podAntiAffinity', term()));
    const plain = instance('a/new', { labels: web });
    assert.deepEqual(
      [
        told(alone),
        told(alone, instance('a/x')),
        told(alone, instance('a/x', { labels: web })),
        told(alone, instance('b/x', { labels: web })),
        told(plain, instance('a/x', asks('podAntiAffinity', term()))),
        told(
          instance('a/new', asks('podAntiAffinity', term({ topologyKey: 'rack' }))),
          instance('a/x', { labels: web }),
        ),
      ],
      [
        undefined,
        undefined,
        "1 node(s) didn't match pod anti-affinity rules (a/x)",
        undefined,
        "1 node(s) didn't satisfy existing pods anti-affinity rules (a/x)",
        undefined,
      ],
    );
  });

  it('is looked for, but the first of its kind needs none', () => {
    const missing = "1 node(s) didn't match pod affinity rules";
    const near = (changes: Partial<PeerTerm> = {}, labels = {}): VirtualMachineInstance =>
      instance('a/new', { ...asks('podAffinity', term(changes)), labels });
    const peer = instance('a/x', { labels: web });
    assert.deepEqual(
      [
        told(near()),
        told(near(), peer),
        told(near({}, web)),
        told(near({ topologyKey: 'rack' }), peer),
        told(near({ namespaces: ['b'] }), peer),
        told(near({ namespaceSelector: { matchLabels: { team: 'a' } } }), peer),
        told(near({ namespaceSelector: {} }), instance('b/x', { labels: web })),
        told(near({ labelSelector: { matchLabels: { 'vm.kubevirt.io/name': 'x' } } }), instance('a/x')),
        told(near({ labelSelector: { matchExpressions: [{ key: 'app', operator: 'Like' }] } }), peer),
      ],
      [missing, undefined, undefined, missing, missing, undefined, undefined, undefined, missing],
    );
  });

  it('is spread as far as one node goes', () => {
    const spread = (changes: Partial<SpreadConstraint>): VirtualMachineInstance =>
      instance('a/new', {
        labels: web,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: hostname,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: web },
            ...changes,
          },
        ],
      });
    const text = "1 node(s) didn't match pod topology spread constraints";
    const peer = instance('a/x', { labels: web });
    assert.deepEqual(
      [
        told(spread({}), peer),
        told(spread({ minDomains: 2 })),
        told(spread({ minDomains: 2 }), peer),
        told(spread({ topologyKey: 'rack' })),
        told(spread({ topologyKey: 'rack', whenUnsatisfiable: 'ScheduleAnyway' })),
      ],
      [undefined, undefined, text, `${text} (missing required label)`, undefined],
    );
  });
});

describe('a claim', () => {
  const of = (name: string, disk: Partial<DiskSpec> = { disk: {} }): Peer => ({
    volumes: [{ name: 'd', persistentVolumeClaim: { claimName: name } }],
    disks: [{ name: 'd', ...disk }],
  });
  const isHeld = (wanted: Peer, held: Peer, holder = 'a/old'): boolean =>
    heldClaimOf(instance('a/new', wanted), [instance('a/other'), instance(holder, held)]) !== undefined;

  it('is held by one machine, unless all read it or all share it', () => {
    const [written, read, shared] = [of('x'), of('x', { cdrom: {} }), of('x', { disk: {}, shareable: true })];
    assert.deepEqual(
      [
        isHeld(written, written),
        isHeld(written, of('y')),
        isHeld(written, written, 'b/old'),
        isHeld(read, read),
        isHeld(written, read),
        isHeld(read, of('x', { lun: { readonly: true } })),
        isHeld(shared, shared),
        isHeld(shared, written),
      ],
      [true, false, false, false, true, false, false, true],
    );
  });

  it('names who holds it, and what can be done', () => {
    assert.deepEqual(heldClaimOf(instance('a/new', of('x')), [instance('a/old', of('x'))]), {
      reason: 'VolumeInUse',
      text: 'The volume x is held by the virtual machine a/old; to have it here, stop that machine, or give this one another volume',
      nature: 'transient',
      object: { kind: 'VirtualMachineInstance', namespace: 'a', name: 'old' },
    });
  });
});
