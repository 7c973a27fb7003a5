import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import { readScale, validateScale, writeReplicas } from './scale.ts';

const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

test('the scale of an object', () => {
  const object: JsonObject = { spec: { replicas: 3 }, status: { replicas: 2, selector: 'a=b' } };
  assert.deepEqual(readScale(scale, object), { specReplicas: 3, statusReplicas: 2, selector: 'a=b' });
  assert.equal(readScale(scale, {}), undefined);
  assert.deepEqual(readScale(scale, { spec: { replicas: 0 } }), {
    specReplicas: 0,
    statusReplicas: 0,
    selector: '',
  });
});

test('replicas are written where the path says', () => {
  const object: JsonObject = {};
  writeReplicas(scale, object, 4);
  assert.deepEqual(object, { spec: { replicas: 4 } });
});

test('errors are reported under the path with its dot', () => {
  const texts = (object: JsonObject): readonly string[] =>
    validateScale(scale, object, '').map((error) => `${error.field}: ${error.message}`);
  assert.deepEqual(texts({ spec: { replicas: -1 } }), [
    '.spec.replicas: Invalid value: -1: should be a non-negative integer',
  ]);
  assert.deepEqual(texts({ spec: { replicas: 'x' } }), [
    '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64',
  ]);
  assert.deepEqual(texts({ spec: { replicas: 3_000_000_000 } }), [
    '.spec.replicas: Invalid value: 3000000000: should be less than or equal to 2147483647',
  ]);
});
