import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { AdmissionRequest } from '../admission/plugin.ts';
import type { User } from '../authentication/user.ts';
import type { SelectorRequirement } from './attributes.ts';
import { FixtureViews } from './live-views.fixture.ts';
import { NodeAuthorizer } from './node-authorizer.ts';
import { NodeGraph } from './node-graph.ts';
import { nodeRestriction } from './node-restriction.ts';
import { ask } from './rbac.fixture.ts';

const kubelet = (name: string): User => ({
  name: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
});
const n1 = kubelet('n1');

const pod: KubeObject = {
  metadata: { namespace: 'ns', name: 'p', uid: 'pod-1' },
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ envFrom: [{ secretRef: { name: 'init' } }] }],
    containers: [
      {
        env: [
          { valueFrom: { secretKeyRef: { name: 'env' } } },
          { valueFrom: { configMapKeyRef: { name: 'conf' } } },
        ],
      },
    ],
    volumes: [
      { name: 'a', secret: { secretName: 'vol' } },
      {
        name: 'b',
        projected: {
          sources: [
            { secret: { name: 'proj' } },
            { configMap: { name: 'projconf' } },
            { serviceAccountToken: { audience: 'vault' } },
          ],
        },
      },
      { name: 'c', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'd', ephemeral: {} },
      { name: 'e', csi: { driver: 'csi.acme', nodePublishSecretRef: { name: 'csi' } } },
    ],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
  },
};

function setUp() {
  const views = new FixtureViews();
  views.of('', 'pods').put(pod);
  views.of('', 'nodes').put({ metadata: { name: 'n1', uid: 'node-1' } });
  views.of('', 'persistentvolumes').put({
    metadata: { name: 'pv' },
    spec: {
      claimRef: { namespace: 'ns', name: 'claim' },
      csi: {
        driver: 'd',
        nodeStageSecretRef: { namespace: 'sys', name: 'stage' },
        controllerPublishSecretRef: { namespace: 'sys', name: 'ctl' },
      },
    },
  });
  views.of('storage.k8s.io', 'volumeattachments').put({ metadata: { name: 'va' }, spec: { nodeName: 'n1' } });
  views
    .of('resource.k8s.io', 'resourceslices')
    .put({ metadata: { name: 'slice' }, spec: { nodeName: 'n1' } });
  views
    .of('certificates.k8s.io', 'podcertificaterequests')
    .put({ metadata: { namespace: 'ns', name: 'pcr' }, spec: { nodeName: 'n1' } });
  const graph = new NodeGraph(views);
  return { views, graph, authorizer: new NodeAuthorizer(graph) };
}

const equals = (key: string, value: string): SelectorRequirement => ({
  key,
  operator: 'In',
  values: [value],
});

describe('NodeAuthorizer', () => {
  it('allows what pods on the node need, cell by cell', () => {
    const { authorizer } = setUp();
    const table: Record<string, [own: boolean, other: boolean]> = {
      'get secrets ns pull': [true, false],
      'get secrets ns init': [true, false],
      'get secrets ns env': [true, false],
      'get secrets ns vol': [true, false],
      'get secrets ns proj': [true, false],
      'get secrets ns csi': [true, false],
      'get secrets sys stage': [true, false],
      'get secrets sys ctl': [false, false],
      'get secrets ns other': [false, false],
      'get secrets other vol': [false, false],
      'list secrets ns vol': [true, false],
      'watch secrets ns vol': [true, false],
      'list secrets ns': [false, false],
      'list secrets': [false, false],
      'update secrets ns vol': [false, false],
      'get configmaps ns conf': [true, false],
      'watch configmaps ns projconf': [true, false],
      'get configmaps ns other': [false, false],
      'get persistentvolumeclaims ns claim': [true, false],
      'get persistentvolumeclaims ns p-d': [true, false],
      'list persistentvolumeclaims ns claim': [false, false],
      'patch persistentvolumeclaims/status ns claim': [true, false],
      'get persistentvolumeclaims/status ns claim': [false, false],
      'patch persistentvolumeclaims ns claim': [false, false],
      'get persistentvolumes - pv': [true, false],
      'list persistentvolumes': [false, false],
      'get resource.k8s.io:resourceclaims ns gpu': [true, false],
      'get storage.k8s.io:volumeattachments - va': [true, false],
      'get resource.k8s.io:resourceslices - slice': [true, false],
      'delete resource.k8s.io:resourceslices - slice': [true, false],
      'create resource.k8s.io:resourceslices': [true, true],
      'list resource.k8s.io:resourceslices': [false, false],
      'get serviceaccounts ns robot': [true, false],
      'create serviceaccounts/token ns robot': [true, false],
      'create serviceaccounts/token ns default': [false, false],
      'get coordination.k8s.io:leases kube-node-lease n1': [true, false],
      'update coordination.k8s.io:leases kube-node-lease n1': [true, false],
      'create coordination.k8s.io:leases kube-node-lease': [true, true],
      'list coordination.k8s.io:leases kube-node-lease': [false, false],
      'get coordination.k8s.io:leases kube-system n1': [false, false],
      'get storage.k8s.io:csinodes - n1': [true, false],
      'delete storage.k8s.io:csinodes - n1': [true, false],
      'list storage.k8s.io:csinodes': [false, false],
      'get nodes - n1': [true, false],
      'watch nodes - n1': [true, false],
      'list nodes': [false, false],
      'create nodes': [true, true],
      'update nodes - n1': [true, true],
      'patch nodes/status - n1': [true, true],
      'delete nodes - n1': [false, false],
      'get pods ns p': [true, false],
      'watch pods ns p': [true, false],
      'list pods': [false, false],
      'list pods ns': [false, false],
      'create pods ns': [true, true],
      'delete pods ns p': [true, true],
      'update pods ns p': [false, false],
      'patch pods/status ns p': [true, true],
      'get pods/log ns p': [false, false],
      'create pods/eviction ns p': [true, true],
      'create pods/exec ns p': [false, false],
      'get certificates.k8s.io:podcertificaterequests ns pcr': [true, false],
      'create certificates.k8s.io:podcertificaterequests ns': [true, true],
      'delete certificates.k8s.io:podcertificaterequests ns pcr': [false, false],
      'list services': [true, true],
      'watch node.k8s.io:runtimeclasses': [true, true],
      'create events ns': [true, true],
      'create certificates.k8s.io:certificatesigningrequests': [true, true],
      'create authentication.k8s.io:tokenreviews': [true, true],
      'list apps:deployments': [false, false],
      'get /healthz': [false, false],
    };
    for (const [question, answers] of Object.entries(table)) {
      const actual = [n1, kubelet('n2')].map(
        (user) => authorizer.authorize(ask(user, question)).decision === 'allow',
      );
      assert.deepEqual(actual, answers, question);
    }
  });

  it('allows lists and watches only with a selector for the node itself', () => {
    const { authorizer } = setUp();
    const decide = (text: string, ...fieldSelector: SelectorRequirement[]) =>
      authorizer.authorize({
        ...(ask(n1, text) as Extract<ReturnType<typeof ask>, { isResource: true }>),
        fieldSelector,
      }).decision;
    assert.deepEqual(
      [
        decide('list pods', equals('spec.nodeName', 'n1')),
        decide('watch pods ns', equals('status.phase', 'Running'), equals('spec.nodeName', 'n1')),
        decide('list pods', equals('spec.nodeName', 'n2')),
        decide('list pods', { key: 'spec.nodeName', operator: 'NotIn', values: ['n1'] }),
        decide('list pods', { key: 'spec.nodeName', operator: 'In', values: ['n1', 'n2'] }),
        decide('deletecollection pods ns', equals('spec.nodeName', 'n1')),
        decide('list resource.k8s.io:resourceslices', equals('nodeName', 'n1')),
        decide('deletecollection resource.k8s.io:resourceslices', equals('nodeName', 'n1')),
        decide('watch resource.k8s.io:resourceslices', equals('spec.nodeName', 'n1')),
        decide('watch certificates.k8s.io:podcertificaterequests', equals('spec.nodeName', 'n1')),
      ],
      [
        'allow',
        'allow',
        'no-opinion',
        'no-opinion',
        'no-opinion',
        'no-opinion',
        'allow',
        'allow',
        'no-opinion',
        'allow',
      ],
    );
    assert.equal(
      authorizer.authorize(ask(n1, 'list pods')).reason,
      'can only list/watch pods with spec.nodeName field selector',
    );
    assert.equal(
      authorizer.authorize(ask(n1, 'list nodes')).reason,
      "node 'n1' cannot read all nodes, only its own Node object",
    );
    assert.equal(
      authorizer.authorize(ask(n1, 'get nodes - n2')).reason,
      "node 'n1' cannot read 'n2', only its own Node object",
    );
    assert.equal(
      authorizer.authorize(ask(n1, 'get secrets ns x')).reason,
      "no relationship found between node 'n1' and this object",
    );
  });

  it('has no opinion on others', () => {
    const { authorizer } = setUp();
    for (const user of [
      { name: 'system:node:n1', groups: [] },
      { name: 'jane', groups: ['system:nodes'] },
    ]) {
      assert.deepEqual(authorizer.authorize(ask(user, 'get nodes - n1')), {
        decision: 'no-opinion',
        reason: '',
      });
    }
    assert.equal(
      authorizer.authorize(ask(kubelet(''), 'get nodes - n1')).reason,
      'unknown node for user "system:node:"',
    );
  });

  it('follows pods and volumes as they change', () => {
    const { authorizer, views } = setUp();
    const sees = (name: string, user = n1) =>
      authorizer.authorize(ask(user, `get secrets ns ${name}`)).decision === 'allow';
    const pods = views.of('', 'pods');
    const spec = pod['spec'] as Record<string, unknown>;
    assert.equal(sees('vol'), true);
    pods.put({ ...pod, metadata: { ...pod.metadata, name: 'q' } });
    pods.remove('ns', 'p');
    assert.equal(sees('vol'), true);
    pods.put({
      ...pod,
      metadata: { ...pod.metadata, name: 'q' },
      spec: { ...spec, ephemeralContainers: [{ envFrom: [{ secretRef: { name: 'debug' } }] }] },
    });
    assert.equal(sees('debug'), true);
    pods.remove('ns', 'q');
    assert.deepEqual([sees('vol'), sees('debug')], [false, false]);
    const mirror = {
      ...pod,
      metadata: { ...pod.metadata, name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' } },
    };
    pods.put(mirror);
    assert.equal(sees('vol'), false);
    assert.equal(authorizer.authorize(ask(n1, 'get pods ns m')).decision, 'allow');
    pods.put({ ...pod, spec: { ...spec, nodeName: '' } });
    assert.equal(sees('vol'), false);
    pods.put(pod);
    assert.equal(sees('vol'), true);
    const stage = () => authorizer.authorize(ask(n1, 'get secrets sys stage')).decision === 'allow';
    assert.equal(stage(), true);
    views.of('', 'persistentvolumes').remove('', 'pv');
    assert.equal(stage(), false);
  });

  it('survives malformed objects', () => {
    const { authorizer, views } = setUp();
    views.of('', 'pods').put({
      metadata: { namespace: 'ns', name: 'x' },
      spec: {
        nodeName: 'n1',
        containers: 'no',
        volumes: [null, 7, { projected: 3 }],
        imagePullSecrets: [{}],
      },
    });
    views.of('', 'persistentvolumes').put({ metadata: { name: 'y' }, spec: null });
    assert.equal(authorizer.authorize(ask(n1, 'get secrets ns vol')).decision, 'allow');
  });
});

describe('nodeRestriction', () => {
  const views = setUp().views;
  const never = { authorize: () => ({ decision: 'no-opinion', reason: '' }) as const };
  views
    .of('storage.k8s.io', 'csidrivers')
    .put({ metadata: { name: 'csi.acme' }, spec: { tokenRequests: [{ audience: 'storage' }] } });
  views.of('', 'pods').put({
    metadata: { namespace: 'ns', name: 'far', uid: 'far-1' },
    spec: { nodeName: 'n2', serviceAccountName: 'robot' },
  });
  views.of('', 'serviceaccounts').put({ metadata: { namespace: 'ns', name: 'robot', uid: 'sa-1' } });
  const plugin = nodeRestriction({ views, authorizer: never });

  interface Write {
    readonly operation: AdmissionRequest['operation'];
    /** `[group:]resource[/subresource]`. */
    readonly on: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly object?: object;
    readonly old?: object;
    readonly user?: User;
  }

  function request(write: Write): AdmissionRequest {
    const asked = ask(n1, `x ${write.on}`);
    assert.ok(asked.isResource);
    return {
      operation: write.operation,
      kind: { group: asked.group, version: 'v1', kind: 'X' },
      resource: { group: asked.group, version: 'v1', resource: asked.resource },
      subresource: asked.subresource,
      namespaced: write.namespace !== undefined,
      namespace: write.namespace ?? '',
      name: write.name ?? '',
      object: write.object && { metadata: {}, ...write.object },
      oldObject: write.old && { metadata: {}, ...write.old },
      options: {},
      dryRun: false,
      user: write.user ?? n1,
      warn() {},
      annotate() {},
      signal: new AbortController().signal,
      onEnd() {},
    };
  }

  async function outcome(write: Write): Promise<string> {
    const made = request(write);
    if (!plugin.handles(made)) return 'not handled';
    try {
      await plugin.mutate?.(made, { round: 0, repeat() {}, memory: (_plugin, make) => make() });
      return 'ok';
    } catch (error) {
      assert.ok(StatusError.is(error), String(error));
      return `${error.code} ${error.message}`;
    }
  }

  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-1', controller: true };
  const mirror = (metadata = {}, spec = {}) => ({
    metadata: {
      name: 'm',
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      ownerReferences: [owner],
      ...metadata,
    },
    spec: { nodeName: 'n1', volumes: [{ name: 'h', hostPath: {} }], ...spec },
  });
  const createPod = (object: object): Write => ({ operation: 'CREATE', on: 'pods', namespace: 'ns', object });

  it('lets nodes make mirror pods of their own only', async () => {
    assert.deepEqual(
      await Promise.all(
        [
          mirror(),
          mirror({ annotations: {} }),
          mirror({}, { nodeName: 'n2' }),
          mirror({ ownerReferences: [] }),
          mirror({ ownerReferences: [owner, owner] }),
          mirror({ ownerReferences: [{ ...owner, controller: false }] }),
          mirror({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
          mirror({ ownerReferences: [{ ...owner, uid: 'x' }] }),
          mirror({}, { serviceAccountName: 'robot' }),
          mirror({}, { volumes: [{ name: 's', secret: { secretName: 's' } }] }),
          mirror({}, { volumes: [{ name: 's', projected: { sources: [{ serviceAccountToken: {} }] } }] }),
          mirror({}, { volumes: [{ name: 's', novel: {} }] }),
        ].map((object) => outcome(createPod(object))),
      ),
      [
        'ok',
        '403 pods "m" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
        '403 pods "m" is forbidden: node "n1" can only create pods with spec.nodeName set to itself',
        '403 pods "m" is forbidden: node "n1" can only create pods with an owner reference set to itself',
        '403 pods "m" is forbidden: node "n1" can only create pods with a single owner reference set to itself',
        '403 pods "m" is forbidden: node "n1" can only create pods with a controller owner reference set to itself',
        '403 pods "m" is forbidden: node "n1" must not set blockOwnerDeletion on an owner reference',
        '403 pods "m" is forbidden: node n1 UID mismatch: expected x got node-1',
        '403 pods "m" is forbidden: node "n1" can not create pods that reference serviceaccounts',
        '403 pods "m" is forbidden: node "n1" can not create pods that reference secrets',
        '403 pods "m" is forbidden: node "n1" can not create pods that reference serviceaccounts (via projected volumes)',
        '403 pods "m" is forbidden: node "n1" can not create pods that reference unknown volume type for volume "s"',
      ],
    );
  });

  it('limits pod status, deletion and eviction to pods on the node', async () => {
    const far = views.of('', 'pods').get('ns', 'far');
    assert.ok(far);
    const status = (old: object, object: object): Write => ({
      operation: 'UPDATE',
      on: 'pods/status',
      namespace: 'ns',
      name: 'p',
      old,
      object,
    });
    assert.equal(await outcome(status(pod, pod)), 'ok');
    assert.match(
      await outcome(status(far, far)),
      /can only update pod status for pods with spec.nodeName set to itself/,
    );
    assert.match(
      await outcome(status(pod, { ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } } })),
      /cannot update labels/,
    );
    assert.match(
      await outcome(status(pod, { ...pod, status: { resourceClaimStatuses: [{ name: 'x' }] } })),
      /resource claim statues/,
    );
    assert.equal(
      await outcome({ operation: 'DELETE', on: 'pods', namespace: 'ns', name: 'p', old: pod }),
      'ok',
    );
    assert.match(
      await outcome({ operation: 'DELETE', on: 'pods', namespace: 'ns', name: 'far', old: far }),
      /can only delete pods with/,
    );
    assert.equal(
      await outcome({ operation: 'CREATE', on: 'pods/eviction', namespace: 'ns', name: 'p', object: {} }),
      'ok',
    );
    assert.match(
      await outcome({ operation: 'CREATE', on: 'pods/eviction', namespace: 'ns', name: 'far', object: {} }),
      /can only evict pods/,
    );
    assert.equal(
      await outcome({ operation: 'CREATE', on: 'pods/eviction', namespace: 'ns', name: 'gone', object: {} }),
      '404 pods "gone" not found',
    );
    assert.match(
      await outcome({ operation: 'CREATE', on: 'pods/binding', namespace: 'ns', name: 'p', object: {} }),
      /unexpected pod subresource "binding"/,
    );
    assert.match(
      await outcome({ operation: 'UPDATE', on: 'pods', namespace: 'ns', name: 'p', object: pod, old: pod }),
      /can only create and delete mirror pods/,
    );
  });

  it('lets a node write its own Node, without taints, owners and labels of others', async () => {
    const node = (metadata = {}, spec = {}) => ({ metadata: { name: 'n1', ...metadata }, spec });
    const update = (object: object, old: object = node()): Promise<string> =>
      outcome({ operation: 'UPDATE', on: 'nodes', name: 'n1', object, old });
    const create = (object: object, name = 'n1') =>
      outcome({ operation: 'CREATE', on: 'nodes', name, object });
    const label = (key: string) => node({ labels: { [key]: 'x' } });
    assert.equal(await create(node()), 'ok');
    assert.match(await create(node({ name: 'n2' }), 'n2'), /node "n1" is not allowed to modify node "n2"/);
    assert.match(await create(node({}, { configSource: {} })), /non-nil configSource/);
    const labels: Record<string, boolean> = {
      'kubernetes.io/hostname': true,
      'topology.kubernetes.io/zone': true,
      'kubelet.kubernetes.io/x': true,
      'a.node.kubernetes.io/x': true,
      'example.com/x': true,
      plain: true,
      'node-restriction.kubernetes.io/x': false,
      'a.node-restriction.kubernetes.io/x': false,
      'node-role.kubernetes.io/control-plane': false,
      'x.k8s.io/y': false,
    };
    for (const [key, isFree] of Object.entries(labels)) {
      assert.equal(
        await create(label(key)),
        isFree
          ? 'ok'
          : `403 nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: ${key}`,
        key,
      );
      assert.equal(
        await update(label(key)),
        isFree ? 'ok' : `403 nodes "n1" is forbidden: is not allowed to modify labels: ${key}`,
        key,
      );
      assert.equal(
        await update(node(), label(key)),
        isFree ? 'ok' : `403 nodes "n1" is forbidden: is not allowed to modify labels: ${key}`,
        key,
      );
    }
    assert.match(await update(node({}, { taints: [{ key: 'a' }] })), /not allowed to modify taints/);
    assert.match(await update(node({ ownerReferences: [owner] })), /not allowed to modify ownerReferences/);
  });

  it('limits leases, CSI nodes, slices and claims', async () => {
    const lease = (namespace: string, name: string, operation: Write['operation'] = 'CREATE') =>
      outcome({
        operation,
        on: 'coordination.k8s.io:leases',
        namespace,
        name: operation === 'CREATE' ? '' : name,
        object: { metadata: { name } },
      });
    assert.equal(await lease('kube-node-lease', 'n1'), 'ok');
    assert.equal(await lease('kube-node-lease', 'n1', 'UPDATE'), 'ok');
    assert.match(await lease('kube-node-lease', 'n2'), /same name as the requesting node/);
    assert.match(await lease('default', 'n1'), /system namespace/);
    assert.match(
      await outcome({ operation: 'DELETE', on: 'storage.k8s.io:csinodes', name: 'n2' }),
      /can only access CSINode/,
    );
    assert.equal(
      await outcome({
        operation: 'CREATE',
        on: 'resource.k8s.io:resourceslices',
        object: { spec: { nodeName: 'n1' } },
      }),
      'ok',
    );
    assert.match(
      await outcome({
        operation: 'DELETE',
        on: 'resource.k8s.io:resourceslices',
        name: 's',
        old: { spec: {} },
      }),
      /can only delete ResourceSlice/,
    );
    const claim = (status: object, metadata = {}) => ({ metadata, spec: {}, status });
    const claimStatus = (object: object) =>
      outcome({
        operation: 'UPDATE',
        on: 'persistentvolumeclaims/status',
        namespace: 'ns',
        name: 'c',
        old: claim({ phase: 'Bound' }),
        object,
      });
    assert.equal(
      await claimStatus(
        claim({ phase: 'Bound', capacity: { storage: '1Gi' }, conditions: [] }, { resourceVersion: '7' }),
      ),
      'ok',
    );
    assert.match(await claimStatus(claim({ phase: 'Lost' })), /not allowed to update fields other than/);
    assert.match(
      await outcome({
        operation: 'UPDATE',
        on: 'persistentvolumeclaims',
        namespace: 'ns',
        name: 'c',
        object: {},
        old: {},
      }),
      /may only update PVC status/,
    );
  });

  it('gives tokens only for pods on the node and audiences they mention', async () => {
    const token = (spec: object) =>
      outcome({
        operation: 'CREATE',
        on: 'serviceaccounts/token',
        namespace: 'ns',
        name: 'robot',
        object: { spec },
      });
    const ref = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'pod-1' };
    assert.equal(await token({ boundObjectRef: ref, audiences: ['vault'] }), 'ok');
    assert.equal(await token({ boundObjectRef: ref, audiences: ['storage'] }), 'ok');
    assert.match(
      await token({ boundObjectRef: ref, audiences: ['evil'] }),
      /audience "evil" not found in pod spec volume, system:node:n1 is not authorized/,
    );
    assert.match(await token({ boundObjectRef: ref, audiences: ['vault', 'storage'] }), /0 or 1 audiences/);
    assert.match(await token({}), /not bound to a pod/);
    assert.match(await token({ boundObjectRef: { ...ref, uid: '' } }), /without a uid/);
    assert.match(await token({ boundObjectRef: { ...ref, uid: 'x' } }), /does not match the UID in record/);
    assert.match(
      await token({ boundObjectRef: { ...ref, name: 'far', uid: 'far-1' } }),
      /scheduled on a different node/,
    );
    const pcr = (spec: object) =>
      outcome({
        operation: 'CREATE',
        on: 'certificates.k8s.io:podcertificaterequests',
        namespace: 'ns',
        object: {
          spec: {
            nodeName: 'n1',
            nodeUID: 'node-1',
            podName: 'p',
            podUID: 'pod-1',
            serviceAccountName: 'robot',
            serviceAccountUID: 'sa-1',
            ...spec,
          },
        },
      });
    assert.equal(await pcr({}), 'ok');
    assert.match(await pcr({ nodeName: 'n2' }), /not the requesting node/);
    assert.match(await pcr({ podName: 'far' }), /is not running on node/);
    assert.match(await pcr({ serviceAccountName: 'x' }), /differs from running pod/);
    assert.match(await pcr({ podUID: 'x' }), /^409/);
  });

  it('checks the names in signing requests and leaves other users alone', async () => {
    const csr = (signerName: string, text = 'junk') =>
      outcome({
        operation: 'CREATE',
        on: 'certificates.k8s.io:certificatesigningrequests',
        object: { spec: { signerName, request: Buffer.from(text).toString('base64') } },
      });
    assert.match(
      await csr('kubernetes.io/kubelet-serving'),
      /unable to parse csr: PEM block type must be CERTIFICATE REQUEST/,
    );
    assert.equal(await csr('example.com/other'), 'ok');
    const jane = { name: 'jane', groups: [] };
    assert.equal(await outcome({ ...createPod({}), user: jane }), 'not handled');
    assert.match(
      await outcome({ ...createPod({}), user: kubelet('') }),
      /could not determine node from user "system:node:"/,
    );
  });
});
