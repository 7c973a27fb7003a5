import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { TestServer } from '@sheaf/testkit';
import {
  type Fields,
  kinds,
  named,
  outcome,
  pod,
  resource,
  startAdmissionServer,
} from './admission-server.fixture.ts';

const nodes = resource('nodes', 'Node', false);
const claims = resource('persistentvolumeclaims', 'PersistentVolumeClaim');
const storageClasses = resource('storageclasses.storage.k8s.io', 'StorageClass', false);
const ingresses = resource('ingresses.networking.k8s.io', 'Ingress');
const ingressClasses = resource('ingressclasses.networking.k8s.io', 'IngressClass', false);
const priorityClasses = resource('priorityclasses.scheduling.k8s.io', 'PriorityClass', false);
const runtimeClasses = resource('runtimeclasses.node.k8s.io', 'RuntimeClass', false);
const limitRanges = resource('limitranges', 'LimitRange');

const specOf = (object: KubeObject): Fields => (object['spec'] ?? {}) as Fields;

describe('rules for built-in kinds', () => {
  let test: TestServer;
  before(async () => (test = await startAdmissionServer()));
  after(() => test.close());
  const makePod = (name: string, spec: Fields = {}) => test.client.create(kinds.pods, pod(name, spec));

  it('lets pods stay for five minutes on a node that is missing, and taints new nodes', async () => {
    const made = await makePod('tolerant', {
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
    });
    const tolerations = specOf(made)['tolerations'] as Fields[];
    assert.equal(tolerations.length, 2);
    assert.deepEqual(tolerations[1], {
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    });
    const node = await test.client.create(nodes, { metadata: { name: 'n' } });
    assert.deepEqual(specOf(node)['taints'], [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
  });

  it('gives claims and ingresses the default class, the newest of several', async () => {
    const mark = (key: string) => ({ annotations: { [key]: 'true' } });
    const parameters = { provisioner: 'x.example.com', allowVolumeExpansion: true };
    for (const name of ['b', 'a'])
      await test.client.create(storageClasses, {
        metadata: { name, ...mark('storageclass.kubernetes.io/is-default-class') },
        ...parameters,
      });
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const claim = await test.client.create(claims, named('c', { spec }));
    assert.equal(specOf(claim)['storageClassName'], 'a');
    assert.deepEqual(claim.metadata.finalizers, ['kubernetes.io/pvc-protection']);
    const none = await test.client.create(claims, named('none', { spec: { ...spec, storageClassName: '' } }));
    assert.equal(specOf(none)['storageClassName'], '');
    await test.client.create(ingressClasses, {
      metadata: { name: 'web', ...mark('ingressclass.kubernetes.io/is-default-class') },
      spec: { controller: 'x.example.com/web' },
    });
    const backend = { service: { name: 's', port: { number: 80 } } };
    const ingress = await test.client.create(ingresses, named('i', { spec: { defaultBackend: backend } }));
    assert.equal(specOf(ingress)['ingressClassName'], 'web');
  });

  it('lets only bound claims grow', async () => {
    const grow = () =>
      outcome(
        test.client.patch(
          claims,
          { namespace: 'default', name: 'c' },
          { type: 'merge', body: { spec: { resources: { requests: { storage: '2Gi' } } } } },
        ),
      );
    assert.match(await grow(), /Only bound persistent volume claims can be expanded|spec is immutable/);
  });

  it('turns priority classes into numbers', async () => {
    assert.deepEqual(
      [specOf(await makePod('plain'))['priority'], specOf(await makePod('plain-2'))['preemptionPolicy']],
      [0, 'PreemptLowerPriority'],
    );
    await test.client.create(priorityClasses, {
      metadata: { name: 'high' },
      value: 1000,
      preemptionPolicy: 'Never',
    });
    const made = specOf(await makePod('high', { priorityClassName: 'high' }));
    assert.deepEqual([made['priority'], made['preemptionPolicy']], [1000, 'Never']);
    assert.equal(
      await outcome(makePod('ghost', { priorityClassName: 'ghost' })),
      '403 pods "ghost" is forbidden: no PriorityClass with name ghost was found',
    );
    assert.equal(
      await outcome(makePod('number', { priority: 7 })),
      '403 pods "number" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    );
    const makeDefault = (name: string) =>
      outcome(test.client.create(priorityClasses, { metadata: { name }, value: 5, globalDefault: true }));
    assert.equal(await makeDefault('usual'), 'ok');
    assert.match(
      await makeDefault('other'),
      /PriorityClass usual is already marked as default\. Only one default can exist$/,
    );
    const usual = specOf(await makePod('usual'));
    assert.deepEqual([usual['priority'], usual['priorityClassName']], [5, 'usual']);
  });

  it('takes overhead and placement from runtime classes', async () => {
    await test.client.create(runtimeClasses, {
      metadata: { name: 'boxed' },
      handler: 'boxed',
      overhead: { podFixed: { memory: '10Mi' } },
      scheduling: { nodeSelector: { boxed: 'yes' } },
    });
    const made = specOf(await makePod('boxed', { runtimeClassName: 'boxed' }));
    assert.deepEqual([made['overhead'], made['nodeSelector']], [{ memory: '10Mi' }, { boxed: 'yes' }]);
    assert.equal(
      await outcome(makePod('clash', { runtimeClassName: 'boxed', nodeSelector: { boxed: 'no' } })),
      '403 pods "clash" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[boxed] = yes; pod.spec.nodeSelector[boxed] = no',
    );
    assert.equal(
      await outcome(makePod('missing', { runtimeClassName: 'gone' })),
      '403 pods "missing" is forbidden: pod rejected: RuntimeClass "gone" not found',
    );
  });

  it('fills in and holds limits', async () => {
    const limits = [
      { type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m' }, max: { cpu: '1' } },
      { type: 'Pod', max: { cpu: '1500m' } },
      { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } },
    ];
    await test.client.create(limitRanges, named('limits', { spec: { limits } }));
    const made = await makePod('small');
    assert.equal(
      made.metadata.annotations?.['kubernetes.io/limit-ranger'],
      'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
    );
    const container = (name: string, cpu: string) => ({ name, image: 'x:1', resources: { limits: { cpu } } });
    assert.equal(
      await outcome(makePod('big', { containers: [container('c', '2')] })),
      '403 pods "big" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1500m, but limit is 2]',
    );
    assert.equal(
      await outcome(makePod('two', { containers: [container('a', '1'), container('b', '1')] })),
      '403 pods "two" is forbidden: maximum cpu usage per Pod is 1500m, but limit is 2',
    );
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '6Gi' } } };
    assert.equal(
      await outcome(test.client.create(claims, named('huge', { spec }))),
      '403 persistentvolumeclaims "huge" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
    );
  });
});
