import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { KubeObject } from '@sheaf/api';
import type { Pod, PodStatus } from '@sheaf/api/workload/index';
import { hooksAtWork, hookTrouble, newestRecord } from './hook-trouble.ts';

const hook = {
  kind: 'Job',
  name: 'web-check',
  imageWayOut: 'see that the image can be pulled, or name another one in the values',
};
const hooks = [
  { kind: hook.kind, name: hook.name, last_run: { phase: 'Running' } },
  { kind: 'Job', name: 'web-done', last_run: { phase: 'Succeeded' } },
  { kind: 'Job', name: 'web-later', last_run: { phase: '' } },
];
const packed = gzipSync(JSON.stringify({ name: 'web', hooks })).toString('base64');

function secret(release: string): KubeObject {
  return { kind: 'Secret', metadata: {}, data: { release: Buffer.from(release).toString('base64') } };
}

function pod(status: PodStatus, owner: { readonly kind: string; readonly name: string } = hook): Pod {
  return {
    metadata: {
      namespace: 'default',
      name: 'web-check-x',
      ownerReferences: [{ apiVersion: 'batch/v1', kind: owner.kind, name: owner.name, uid: '' }],
    },
    spec: { containers: [] },
    status,
  };
}

const container = { name: 'check', image: '', imageID: '', ready: false, restartCount: 0 };

describe('the hooks that Helm waits for', () => {
  const cases: readonly [string, KubeObject, readonly object[]][] = [
    ['of a Secret', secret(packed), [hook]],
    [
      'of a release that is taken away',
      {
        ...secret(packed),
        metadata: { namespace: 'default', labels: { name: 'web', status: 'uninstalling' } },
      },
      [
        {
          ...hook,
          imageWayOut:
            'see that the image can be pulled, or do without this hook: kubectl delete job web-check --namespace default',
        },
      ],
    ],
    ['of a ConfigMap', { kind: 'ConfigMap', metadata: {}, data: { release: packed } }, [hook]],
    ['of what cannot be read', secret('H4sIAAAA'), []],
    ['of what is no release', secret(gzipSync('[]').toString('base64')), []],
    ['of what is empty', { kind: 'Secret', metadata: {} }, []],
  ];
  for (const [name, record, expected] of cases)
    it(name, () => assert.deepEqual(hooksAtWork(record), expected));
});

describe('the record of a release', () => {
  it('is that of its newest revision, told by numbers', () => {
    const revision = (version: string): KubeObject => ({ metadata: { name: version, labels: { version } } });
    const records = ['9', '10', '2'].map(revision);
    assert.equal(newestRecord(records)?.metadata.name, '10');
    assert.equal(newestRecord([]), undefined);
  });
});

describe('what keeps a hook from its end', () => {
  const pulling: PodStatus = {
    phase: 'Pending',
    containerStatuses: [
      { ...container, state: { waiting: { reason: 'ErrImagePull', message: 'no such host' } } },
    ],
  };
  const coming: PodStatus = {
    phase: 'Pending',
    containerStatuses: [
      { ...container, state: { waiting: { reason: 'ContainerCreating', message: 'Pulling image "x"' } } },
    ],
  };
  const crashed: PodStatus = {
    phase: 'Failed',
    containerStatuses: [{ ...container, state: { terminated: { exitCode: 3, reason: 'Error' } } }],
  };
  const placeless: PodStatus = {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }],
  };
  const cases: readonly [string, Pod, string | undefined][] = [
    [
      'an image that cannot be pulled',
      pod(pulling),
      'ErrImagePull, its hook Job web-check does not begin: no such host, see that the image can be pulled, or name another one in the values',
    ],
    [
      'an image that is being pulled',
      pod(coming),
      'ContainerCreating, its hook Job web-check does not begin: Pulling image "x", ',
    ],
    [
      'no room',
      pod(placeless),
      'Unschedulable, its hook Job web-check does not begin: 0/1 nodes, make room, or take away what keeps pods from the node',
    ],
    [
      'a failure before the last',
      pod(crashed),
      'HookFailing, its hook Job web-check goes on after a failure: it ended with 3 (Error), see kubectl logs web-check-x --namespace default',
    ],
    ['the trouble of others', pod(pulling, { kind: 'Job', name: 'other' }), undefined],
    ['nothing', pod({ phase: 'Running' }), undefined],
  ];
  for (const [name, of, expected] of cases)
    it(name, () => {
      const trouble = hookTrouble([hook], [of]);
      assert.equal(trouble && [trouble.reason, trouble.text, trouble.wayOut].join(', '), expected);
    });
});
