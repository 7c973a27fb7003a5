import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { ServedResource } from '@sheaf/client';
import { served } from './chain.fixture.ts';
import { followChain } from './chain.ts';
import type { ClusterView } from './cluster-view.ts';
import type { ControllerReport } from './connect.ts';
import { chainText } from './why.ts';

const namespaces = served('', 'namespaces', 'Namespace', false);
const configMaps = served('', 'configmaps', 'ConfigMap');
const pods = served('', 'pods', 'Pod');
const nodes = served('', 'nodes', 'Node', false);
const deployments = served('apps', 'deployments', 'Deployment');
const replicaSets = served('apps', 'replicasets', 'ReplicaSet');
const definitions = served(
  'apiextensions.k8s.io',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  false,
);

const namespaceController: ControllerReport = {
  name: 'namespace',
  passes: 7,
  failures: 0,
  queueDepth: 1,
  failingCount: 0,
  failing: [],
};

function view(
  objects: readonly [ServedResource, KubeObject][],
  controllers = [namespaceController],
): ClusterView {
  return {
    resources: [namespaces, configMaps, pods, nodes, deployments, replicaSets, definitions],
    controllers,
    find: () => Promise.resolve(undefined),
    list: (resource, namespace) =>
      Promise.resolve(
        objects
          .filter(([of, { metadata }]) => of === resource && (!namespace || metadata.namespace === namespace))
          .map(([, object]) => object),
      ),
  };
}

const terminating: KubeObject = {
  metadata: { name: 'n', uid: 'u-n', deletionTimestamp: '2026-01-01T00:00:00Z' },
  spec: { finalizers: ['kubernetes'] },
};

describe('followChain', () => {
  it('a namespace that does not go: contents, finalizer, who set it, the controller', async () => {
    const held: KubeObject = {
      metadata: {
        name: 'held',
        namespace: 'n',
        uid: 'u-c',
        deletionTimestamp: '2026-01-01T00:00:01Z',
        finalizers: ['example.com/hold'],
        managedFields: [
          {
            manager: 'holder',
            fieldsV1: { 'f:metadata': { 'f:finalizers': { 'v:"example.com/hold"': {} } } },
          },
        ],
      },
    };
    const links = await followChain(view([[configMaps, held]]), namespaces, terminating);
    assert.equal(
      chainText(links),
      `Namespace/n: is being deleted since 2026-01-01T00:00:00Z
└─ ConfigMap/held in n: is being deleted since 2026-01-01T00:00:01Z and waits for example.com/hold
   └─ finalizer example.com/hold: no controller of Sheaf takes it away; it was set by "holder"
         way out: Start the program that set it. If it will never come back and what it cleans up may stay: kubectl patch configmaps held -n n --type=merge -p '{"metadata":{"finalizers":null}}'
└─ controller namespace: is at work (7 passes, 1 waiting)
`,
    );
  });

  it('tells a controller that fails, and one that does not run', async () => {
    const failing = { ...namespaceController, failingCount: 1, failing: [{ key: 'n', message: 'no disk' }] };
    const [, told] = await followChain(view([], [failing]), namespaces, terminating);
    assert.equal(told?.text, 'fails with: no disk');
    const [, gone] = await followChain(view([], []), namespaces, terminating);
    assert.deepEqual([gone?.text, gone?.nature], ['does not run', 'fault']);
  });

  it('a node that cannot run containers is no node for pods, and says why; one that can is', async () => {
    const pod: KubeObject = {
      metadata: { name: 'p', namespace: 'n', uid: 'p' },
      spec: {},
      status: { phase: 'Pending' },
    };
    const texts = async (count: string, condition: object[] = []): Promise<readonly string[]> => {
      const node: KubeObject = {
        metadata: { name: 'a', uid: 'a' },
        status: { allocatable: { pods: count }, conditions: condition },
      };
      return (await followChain(view([[nodes, node]]), pods, pod)).slice(1).map(({ text }) => text);
    };
    assert.deepEqual(await texts('0'), ['no node runs pods: a: it has room for none']);
    const unable = { type: 'ContainersRunnable', status: 'False', message: 'no podman; install it' };
    assert.deepEqual(await texts('110', [unable]), ['no node runs pods: a: no podman; install it']);
    assert.deepEqual(await texts('110'), []);
  });

  it('tells what keeps a node from running machines, and the way out', async () => {
    const told = async (conditions: readonly object[], spec: object = {}): Promise<string> => {
      const node: KubeObject = { metadata: { name: 'a', uid: 'a' }, spec, status: { conditions } };
      const [link] = await followChain(view([]), nodes, node);
      return `${link?.nature}: ${link?.text}`;
    };
    const ready = { type: 'Ready', status: 'True' };
    const runnable = { type: 'MachinesRunnable', status: 'True' };
    const maintained = { type: 'MaintenanceMode', status: 'True', reason: 'Completed' };
    const draining = { ...maintained, status: 'False', reason: 'Draining', message: 'Waits for b' };
    assert.deepEqual(
      [
        await told([ready, runnable, { type: 'Accelerated', status: 'False' }]),
        await told([{ ...ready, status: 'Unknown', reason: 'NodeStatusUnknown' }]),
        await told([ready, { ...runnable, status: 'False', message: 'no QEMU' }]),
        await told([ready, { type: 'DiskPressure', status: 'True', message: 'full' }]),
        await told([ready], { unschedulable: true }),
        await told([ready, maintained], { unschedulable: true }),
        await told([ready, draining], { unschedulable: true }),
      ],
      [
        'fine: is as it should be, as far as it says',
        'transient: it is not known whether it is Ready: NodeStatusUnknown',
        'transient: MachinesRunnable is False: no QEMU',
        'transient: DiskPressure is True: full',
        'fault: is cordoned, so no machine starts on it',
        'fault: is in maintenance, so no machine starts on it',
        'transient: goes into maintenance: Waits for b',
      ],
    );
  });

  it('follows a deployment down to the pod that nothing runs', async () => {
    const owned = (name: string, uid: string, owner: string): KubeObject['metadata'] => ({
      name,
      uid,
      namespace: 'n',
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: owner }],
    });
    const deployment: KubeObject = {
      metadata: { name: 'web', namespace: 'n', uid: 'd', generation: 1 },
      status: {
        observedGeneration: 1,
        conditions: [{ type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' }],
      },
    };
    const set: KubeObject = {
      metadata: { ...owned('web-1', 'r', 'd'), generation: 1 },
      status: { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'Unknown' }] },
    };
    const pod: KubeObject = { metadata: owned('web-1-a', 'p', 'r'), spec: {}, status: { phase: 'Pending' } };
    const links = await followChain(
      view([
        [replicaSets, set],
        [pods, pod],
      ]),
      deployments,
      deployment,
    );
    assert.deepEqual(
      links.map(({ depth, object }) => [depth, object]),
      [
        [0, 'Deployment/web in n'],
        [1, 'ReplicaSet/web-1 in n'],
        [2, 'Pod/web-1-a in n'],
        [3, 'nodes'],
      ],
    );
    assert.equal(links.at(-1)?.nature, 'fault');
  });

  it('a definition whose names are taken says so, with the way out', async () => {
    const definition: KubeObject = {
      metadata: { name: 'x', uid: 'x' },
      status: {
        conditions: [{ type: 'NamesAccepted', status: 'False', message: '"Widget" is already in use' }],
      },
    };
    const [link] = await followChain(view([]), definitions, definition);
    assert.equal(link?.text, 'is not served: "Widget" is already in use');
    assert.ok(link?.wayOut);
  });

  it('ends with objects that own each other, and with what is fine', async () => {
    const loop: KubeObject = {
      metadata: {
        name: 'a',
        namespace: 'n',
        uid: 'a',
        deletionTimestamp: 'x',
        finalizers: ['foregroundDeletion'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a' }],
      },
    };
    assert.equal((await followChain(view([[configMaps, loop]]), configMaps, loop)).length, 2);
    const fine = await followChain(view([]), configMaps, { metadata: { name: 'c', uid: 'c' } });
    assert.equal(fine[0]?.nature, 'fine');
  });
});
