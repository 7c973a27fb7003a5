import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VirtualMachineTemplate, VirtualMachineTemplateVersion } from '@sheaf/api/virtualization/index';
import { imagesOf, planTemplate, readClaims, type TemplateFacts } from './plan.ts';
import { parseReference } from './references.ts';

const now = '2026-01-01T00:00:00Z';
const template: VirtualMachineTemplate = { metadata: { namespace: 'a', name: 'small', uid: 'u1' } };

function version(name: string, made: number, number?: number): VirtualMachineTemplateVersion {
  const creationTimestamp = `2026-01-01T00:00:0${made}Z`;
  return {
    metadata: { namespace: 'a', name, creationTimestamp },
    spec: { templateId: 'a/small' },
    ...(number === undefined
      ? {}
      : { status: { version: number, conditions: [{ type: 'assigned', status: 'True' }] } }),
  };
}

function plan(versions: readonly VirtualMachineTemplateVersion[], facts: Partial<TemplateFacts> = {}) {
  return planTemplate({ template, versions, isImported: () => true, now, ...facts });
}

function numbers(versions: readonly VirtualMachineTemplateVersion[]): unknown {
  return versions.map(({ metadata, status }) => [metadata.name, status?.version]);
}

describe('planTemplate', () => {
  it('gives the first version number, owner, label and conditions, and makes it the default', () => {
    const planned = plan([version('one', 1)]);
    const holds = { status: 'True', reason: '', message: '', lastUpdateTime: now };
    assert.deepEqual(planned, {
      versions: [
        {
          ...version('one', 1),
          metadata: {
            ...version('one', 1).metadata,
            labels: { 'template.harvesterhci.io/templateID': 'small' },
            ownerReferences: [
              {
                apiVersion: 'harvesterhci.io/v1beta1',
                kind: 'VirtualMachineTemplate',
                name: 'small',
                uid: 'u1',
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
          },
          status: {
            version: 1,
            conditions: [
              { type: 'assigned', ...holds },
              { type: 'ready', ...holds },
            ],
          },
        },
      ],
      template: { ...template, spec: { defaultVersionId: 'a/one' } },
      status: undefined,
    });
  });

  it('has nothing to do twice', () => {
    const first = plan([version('one', 1)]);
    const second = plan(first.versions, { template: first.template ?? template });
    assert.deepEqual([second.versions, second.template], [[], undefined]);
    assert.deepEqual(second.status?.status, { latestVersion: 1, defaultVersion: 1 });
    const third = plan(first.versions, { template: second.status ?? template });
    assert.deepEqual(third, { versions: [], template: undefined, status: undefined });
  });

  it('counts in the order in which versions were made, by name within a second', () => {
    const made = [version('d', 3), version('c', 2), version('b', 2), version('a', 1, 4)];
    const { versions } = plan(made);
    assert.deepEqual(numbers(versions), [
      ['a', 4],
      ['b', 5],
      ['c', 6],
      ['d', 7],
    ]);
  });

  it('leaves a chosen default alone, and none where the first version is gone', () => {
    const chosen = { ...template, spec: { defaultVersionId: 'a/two' } };
    const both = [version('one', 1, 1), version('two', 2, 2)];
    const { template: changed, status } = plan(both, { template: chosen });
    assert.deepEqual([changed, status?.status], [undefined, { latestVersion: 2, defaultVersion: 2 }]);
    const later = plan([version('two', 2, 2)]);
    assert.deepEqual([later.template, later.status?.status], [undefined, { latestVersion: 2 }]);
    const missing = { ...chosen, status: { latestVersion: 2, defaultVersion: 2 } };
    assert.equal(plan([version('one', 1, 2)], { template: missing }).status, undefined);
  });

  it('is not ready before its images are imported', () => {
    const claims = [
      { metadata: { name: 'd', annotations: { 'harvesterhci.io/imageId': 'a/debian' } } },
      { metadata: { name: 'e', annotations: { 'harvesterhci.io/imageId': '' } } },
    ];
    const annotations = { 'harvesterhci.io/volumeClaimTemplates': JSON.stringify(claims) };
    const withImage = {
      ...version('one', 1),
      spec: { templateId: 'a/small', vm: { metadata: { annotations } } },
    };
    assert.deepEqual(imagesOf(withImage), ['a/debian']);
    const ready = plan([withImage], { isImported: () => false }).versions[0]?.status?.conditions?.[1];
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'ImageNotImported']);
    assert.match(ready?.message ?? '', /a\/debian; it becomes ready by itself/);
  });

  it('passes over versions that are being deleted', () => {
    const gone = version('one', 1, 9);
    const going = { ...gone, metadata: { ...gone.metadata, deletionTimestamp: now } };
    assert.deepEqual(numbers(plan([going, version('two', 2)]).versions), [['two', 1]]);
  });
});

it('references are NAMESPACE/NAME', () => {
  assert.deepEqual(parseReference('a/b'), { namespace: 'a', name: 'b' });
  for (const text of [undefined, '', 'a', '/a', 'a/', 'a/b/c']) assert.equal(parseReference(text), undefined);
});

it('claims are a JSON list of objects', () => {
  assert.deepEqual(
    [readClaims(undefined), readClaims('[{}]'), readClaims('{}'), readClaims('['), readClaims('[1]')],
    [[], [{}], undefined, undefined, undefined],
  );
});
