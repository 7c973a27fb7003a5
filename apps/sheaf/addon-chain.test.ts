import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { leftoversText } from '@sheaf/api/addon/index';
import type { ServedResource } from '@sheaf/client';
import { served } from './chain.fixture.ts';
import { followChain } from './chain.ts';
import { findWaiting } from './waiting.ts';
import { chainText } from './why.ts';

const addons = served('harvesterhci.io', 'addons', 'Addon');
const charts = served('helm.cattle.io', 'helmcharts', 'HelmChart');
const jobs = served('batch', 'jobs', 'Job');
const pods = served('', 'pods', 'Pod');
const claims = served('', 'persistentvolumeclaims', 'PersistentVolumeClaim');
const definitions = served(
  'apiextensions.k8s.io',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  false,
);
const notes = served('example.org', 'notes', 'Note');
const resources = [addons, charts, jobs, pods, claims, definitions, notes];

interface Made {
  readonly status?: object;
  readonly spec?: object;
  readonly metadata?: object;
  readonly owner?: KubeObject;
}

function made(resource: ServedResource, name: string, rest: Made = {}): KubeObject {
  const { owner, metadata, ...fields } = rest;
  const uid = `uid of ${resource.kind} ${name}`;
  const ownerReferences = owner
    ? [
        {
          apiVersion: 'v1',
          kind: owner.kind ?? '',
          name: owner.metadata.name ?? '',
          uid: owner.metadata.uid ?? '',
        },
      ]
    : [];
  const place = resource.namespaced ? { namespace: 'default' } : {};
  return { kind: resource.kind, metadata: { ...place, name, uid, ownerReferences, ...metadata }, ...fields };
}

async function chainOf(objects: readonly KubeObject[], asked: KubeObject): Promise<readonly string[]> {
  const resource = resources.find(({ kind }) => kind === asked.kind);
  assert.ok(resource);
  const links = await followChain(
    {
      resources,
      controllers: [
        { name: 'helm-chart', passes: 3, failures: 0, queueDepth: 0, failingCount: 0, failing: [] },
      ],
      find: ({ kind }, { name }) =>
        Promise.resolve(objects.find((each) => each.kind === kind && each.metadata.name === name)),
      list: ({ kind }) => Promise.resolve(objects.filter((each) => each.kind === kind)),
    },
    resource,
    asked,
  );
  return chainText(links).trimEnd().split('\n');
}

const unreachable =
  'no route to host; check the address; waits for Pod default/helm-install-web-x; tried again by itself';
const addon = made(addons, 'web', {
  spec: { enabled: true },
  status: {
    status: 'AddonEnabling',
    conditions: [
      { type: 'InProgress', status: 'True', message: `its installation is at work; ${unreachable}` },
    ],
  },
});
const chart = made(charts, 'web', {
  owner: addon,
  status: {
    conditions: [
      { type: 'Deployed', status: 'False', reason: 'RepositoryUnreachable', message: unreachable },
    ],
  },
});
const job = made(jobs, 'helm-install-web', { owner: chart, status: { failed: 2 } });
const pod = made(pods, 'helm-install-web-x', {
  owner: job,
  spec: { nodeName: 'n' },
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'helm',
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 67, message: 'no route to host' } },
      },
    ],
  },
});

describe('sheaf why of an add-on', () => {
  it('goes through its chart and its Job to the last words of Helm', async () => {
    assert.deepEqual(await chainOf([addon, chart, job, pod], addon), [
      `Addon/web in default: is being switched on: its installation is at work; ${unreachable}`,
      `└─ HelmChart/web in default: is not deployed: ${unreachable}`,
      '   └─ Job/helm-install-web in default: is not complete; 2 of its pods have failed',
      '      └─ Pod/helm-install-web-x in default: is started again later: its container helm ended with 67: no route to host',
    ]);
  });

  it('names the pod at work, and from there everything above it', async () => {
    const working = made(pods, 'p', { owner: job, status: { phase: 'Running', startTime: '10:00' } });
    const chain = await chainOf([addon, chart, job, working], working);
    assert.deepEqual(chain, [
      'Pod/p in default: runs since 10:00',
      '└─ owner Job/helm-install-web in default: is not complete; 2 of its pods have failed',
      `   └─ owner HelmChart/web in default: is not deployed: ${unreachable}`,
      `      └─ owner Addon/web in default: is being switched on: its installation is at work; ${unreachable}`,
    ]);
    const [, , , last = ''] = await chainOf([addon, chart, job, working], addon);
    assert.match(last, /Pod\/p in default: runs since 10:00/);
    assert.match(
      (await chainOf([working], working))[1] ?? '',
      /owner Job\/helm-install-web: is not there any more/,
    );
  });

  it('of which the chart is being taken away: the finalizer, the Job, its pod', async () => {
    const going = made(charts, 'web', {
      owner: addon,
      metadata: { deletionTimestamp: '11:00', finalizers: ['wrangler.cattle.io/on-helm-chart-remove'] },
      status: {
        conditions: [
          { type: 'Deployed', status: 'False', message: 'a hook has failed; needs someone: read its log' },
        ],
      },
    });
    const removal = made(jobs, 'helm-delete-web', { owner: going });
    const off = made(addons, 'web', { spec: { enabled: false }, status: { status: 'AddonDisabling' } });
    assert.deepEqual(await chainOf([off, going, removal], off), [
      'Addon/web in default: is to be off, and is being switched off',
      '└─ HelmChart/web in default: is being deleted since 11:00 and waits for wrangler.cattle.io/on-helm-chart-remove; Deployed is False: a hook has failed',
      '      way out: read its log',
      '   └─ Job/helm-delete-web in default: is not complete',
      '   └─ controller helm-chart: is at work (3 passes, 0 waiting)',
    ]);
  });

  it('names whose the chart is that has its name', async () => {
    const other = made(addons, 'other', {
      spec: { enabled: true },
      status: { status: 'AddonDeploySuccessful' },
    });
    const foreign = made(charts, 'web', {
      owner: other,
      status: { conditions: [{ type: 'Deployed', status: 'True' }] },
    });
    const kept = made(addons, 'web', {
      spec: { enabled: true },
      status: {
        status: 'AddonEnabling',
        conditions: [
          {
            type: 'OperationFailed',
            status: 'True',
            reason: 'Error',
            message:
              'ChartOfOthers: it is of someone else; waits for HelmChart default/web; needs someone: delete it',
          },
        ],
      },
    });
    assert.deepEqual(await chainOf([kept, foreign, other], kept), [
      'Addon/web in default: is being switched on: ChartOfOthers: it is of someone else; waits for HelmChart default/web',
      '   way out: delete it',
      '└─ HelmChart/web in default: is as it should be, as far as it says',
      '   └─ owner Addon/other in default: is as it should be, as far as it says',
    ]);
  });

  it('lists what stays of one that is off', async () => {
    const claim = made(claims, 'data-db-0', { status: { phase: 'Bound' } });
    const definition = made(definitions, 'notes.example.org');
    const note = made(notes, 'n');
    const marked = made(claims, 'cache', { metadata: { labels: { 'app.kubernetes.io/instance': 'web' } } });
    const left = leftoversText([
      {
        group: '',
        kind: 'PersistentVolumeClaim',
        namespace: 'default',
        name: 'data-db-0',
        because: 'volume',
      },
      { group: '', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'gone', because: 'kept' },
      { group: 'other', kind: 'Gone', namespace: 'default', name: 'gone', because: 'kept' },
      {
        group: 'apiextensions.k8s.io',
        kind: 'CustomResourceDefinition',
        namespace: '',
        name: 'notes.example.org',
        because: 'definition',
      },
    ]);
    const off = (leftovers: string): KubeObject =>
      made(addons, 'web', {
        spec: { enabled: false },
        status: { status: 'AddonDisabled' },
        metadata: { annotations: { 'sheaf.dev/leftovers': leftovers } },
      });
    const everything = [claim, definition, note, marked];
    assert.deepEqual(await chainOf(everything, off(left)), [
      'Addon/web in default: is off, as it should be',
      '└─ PersistentVolumeClaim/data-db-0 in default: stays on purpose: it holds data, and nobody but you decides about that',
      '      way out: when nobody needs it: kubectl delete persistentvolumeclaims data-db-0 -n default',
      '└─ CustomResourceDefinition/notes.example.org: stays on purpose: with it all objects of its kind would go; there are 1',
      '      way out: when nobody needs it: kubectl delete customresourcedefinitions.apiextensions.k8s.io notes.example.org',
      '└─ PersistentVolumeClaim/cache in default: bears its name, and belongs to nothing else',
      '      way out: when nobody needs it: kubectl delete persistentvolumeclaims cache -n default',
    ]);
    const [, unreadable, wayOut] = await chainOf(everything, off('?'));
    assert.match(`${unreadable} ${wayOut}`, /cannot be read.*kubectl annotate addon web -n default/);
  });
});

describe('what add-ons and charts say', () => {
  const texts: readonly (readonly [KubeObject, string | undefined])[] = [
    [made(addons, 'a', { spec: { enabled: false } }), 'is to be off, and has not been looked at yet'],
    [
      made(addons, 'a', { spec: { enabled: true }, status: { status: 'AddonDisabled' } }),
      'is to be on, and is off',
    ],
    [made(addons, 'a', { spec: { enabled: true }, status: { status: 'AddonDeploySuccessful' } }), undefined],
    [made(charts, 'c'), 'has not been looked at yet'],
    [
      made(charts, 'c', { metadata: { annotations: { 'helmcharts.cattle.io/managed-by': 'other' } } }),
      undefined,
    ],
    [
      made(charts, 'c', { metadata: { annotations: { 'helmcharts.helm.cattle.io/unmanaged': '' } } }),
      undefined,
    ],
    [
      made(charts, 'c', {
        status: {
          conditions: [
            { type: 'Deployed', status: 'False', reason: 'Installing', message: 'in the Pod x/y' },
          ],
        },
      }),
      'is being installed in the Pod x/y',
    ],
    [made(jobs, 'j', { spec: { suspend: true } }), 'is told to rest'],
    [
      {
        kind: 'Upgrade',
        metadata: {},
        status: { conditions: [{ type: 'Completed', status: 'False', message: 'no; needs someone: x' }] },
      },
      'is not completed: no',
    ],
    [{ kind: 'Upgrade', metadata: {} }, 'has not been looked at yet'],
    [made(pods, 'p', { status: { phase: 'Succeeded' } }), undefined],
    [
      made(pods, 'p', {
        status: {
          phase: 'Failed',
          reason: 'Evicted',
          containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 2, reason: 'Error' } } }],
        },
      }),
      'has failed: Evicted; its container c ended with 2: Error',
    ],
    [
      {
        kind: 'Whatever',
        metadata: {},
        status: {
          conditions: [{ type: 'Odd', status: 'True', message: 'it is full; tried again by itself' }],
        },
      },
      'Odd is True: it is full; tried again by itself',
    ],
  ];
  for (const [object, text] of texts)
    it(`${object.kind}: ${text ?? 'nothing'}`, () => assert.equal(findWaiting(object)?.text, text));
});
