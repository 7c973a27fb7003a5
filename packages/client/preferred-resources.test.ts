import assert from 'node:assert/strict';
import { it } from 'node:test';
import { preferredResources, type ServedResource } from './discovery.ts';

it('the preferred resources are objects in their first version that has the verbs', () => {
  const of = (version: string, plural: string, kind: string, verbs = ['get', 'list']): ServedResource => ({
    group: 'g',
    version,
    plural,
    kind,
    namespaced: true,
    verbs,
  });
  const all = [
    of('v2', 'widgets', 'Widget', ['get']),
    of('v1', 'widgets', 'Widget'),
    of('v1beta1', 'widgets', 'Widget'),
    of('v1', 'version', ''),
  ];
  const preferred = preferredResources({ all, missing: [] }, ['get', 'list']);
  assert.deepEqual(
    preferred.map(({ version, plural }) => `${version} ${plural}`),
    ['v1 widgets'],
  );
});
