import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { leftoversText, readLeftovers } from '@sheaf/api/addon/index';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { StatefulSet } from '@sheaf/api/workload/index';
import { leftoversOf } from './leftovers.ts';
import { readRelease } from './release-record.ts';

const manifest = `---
# Source: web/templates/db.yaml
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]
---
# Source: web/templates/cluster.yaml
apiVersion: things.example/v1
kind: Cluster
metadata: {name: main}
---
apiVersion: v1
kind: Secret
metadata:
  name: password
  annotations: {helm.sh/resource-policy: keep}
stringData:
  text: |
    ---
    no document
`;
const hook = 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: prepare, namespace: other}\n';
const definition = `# a comment
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.things.example}
`;

/** As Helm stores it. */
function stored(release: object): string {
  return gzipSync(JSON.stringify(release)).toString('base64');
}

const release = readRelease(
  stored({
    namespace: 'apps',
    manifest,
    hooks: [{ manifest: hook }],
    chart: {
      files: [
        { name: 'crds/things.yaml', data: Buffer.from(definition).toString('base64') },
        { name: 'README.md', data: Buffer.from('a: b').toString('base64') },
      ],
    },
  }),
);
const chart: HelmChart = {
  metadata: { namespace: 'default', name: 'web' },
  spec: { targetNamespace: 'apps', createNamespace: true },
  status: {
    conditions: [
      {
        type: 'Deployed',
        status: 'True',
        message: 'definitions: things.things.example, parts.things.example',
      },
    ],
  },
};
const set = (name: string, kind: string, owner: string): StatefulSet =>
  ({
    metadata: {
      namespace: 'apps',
      name,
      ownerReferences: [{ apiVersion: 'x/v1', kind, name: owner, uid: 'u' }],
    },
    spec: { volumeClaimTemplates: [{ metadata: { name: 'store' } }] },
  }) as unknown as StatefulSet;
const claim = (namespace: string, name: string): object => ({ metadata: { namespace, name } });

describe('what stays of a chart', () => {
  it('are its volumes, definitions, hooks, what it keeps, and the namespace that was made for it', () => {
    const leftovers = leftoversOf({
      chart,
      releases: [release],
      statefulSets: [set('made', 'Cluster', 'main'), set('foreign', 'Cluster', 'other')],
      claims: [
        claim('apps', 'data-db-0'),
        claim('apps', 'data-db-10'),
        claim('apps', 'data-db-x'),
        claim('default', 'data-db-0'),
        claim('apps', 'store-made-0'),
        claim('apps', 'store-foreign-0'),
      ] as never,
    });
    const told = leftovers.map(
      ({ group, kind, namespace, name, because }) => `${because} ${kind}.${group} ${namespace}/${name}`,
    );
    assert.deepEqual(told.toSorted(), [
      'definition CustomResourceDefinition.apiextensions.k8s.io /parts.things.example',
      'definition CustomResourceDefinition.apiextensions.k8s.io /things.things.example',
      'definition CustomResourceDefinition.apiextensions.k8s.io /things.things.example',
      'hook Job.batch other/prepare',
      'kept Secret. apps/password',
      'namespace Namespace. /apps',
      'volume PersistentVolumeClaim. apps/data-db-0',
      'volume PersistentVolumeClaim. apps/data-db-10',
      'volume PersistentVolumeClaim. apps/store-made-0',
    ]);
  });

  it('is written and read as one text, whatever the order', () => {
    const [a, b] = leftoversOf({ chart, releases: [], statefulSets: [], claims: [] });
    assert.ok(a && b);
    const text = leftoversText([b, a, b]);
    assert.equal(text, leftoversText([a, b]));
    const annotated = (value: string) => ({ metadata: { annotations: { 'sheaf.dev/leftovers': value } } });
    assert.equal(readLeftovers(annotated(text))?.length, 2);
    assert.deepEqual(readLeftovers({ metadata: {} }), []);
    for (const wrong of ['{}', '[1]', '[{"kind":"Pod"}]', '['])
      assert.equal(readLeftovers(annotated(wrong)), undefined);
  });

  it('cannot be told of what is no release', () => {
    assert.throws(() => readRelease('bm9uZQ=='));
  });
});
