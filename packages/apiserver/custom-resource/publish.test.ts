import assert from 'node:assert/strict';
import { test } from 'node:test';
import { define } from './definitions.fixture.ts';
import { openApiSchemas } from './publish.ts';

const crd = define({
  group: 'example.com',
  plural: 'widgets',
  kind: 'Widget',
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['n', 'a'],
        properties: {
          a: { type: 'string', default: 'x', oneOf: [{ minLength: 1 }] },
          n: { type: 'object', nullable: true, properties: { q: { type: 'string' } } },
          p: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            properties: { z: { type: 'string' } },
          },
          i: { 'x-kubernetes-int-or-string': true },
        },
      },
    },
  },
  version: { selectableFields: [{ jsonPath: '.spec.a' }] },
});
const name = 'com.example.v1.Widget';

test('the schema of a kind in OpenAPI v3', () => {
  const { v3 } = openApiSchemas(crd, 'v1');
  assert.deepEqual(v3[name]?.properties?.['spec'], {
    type: 'object',
    required: ['n', 'a'],
    properties: {
      a: { type: 'string', default: 'x', oneOf: [{ minLength: 1 }] },
      n: { type: 'object', nullable: true, properties: { q: { type: 'string' } } },
      p: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { z: { type: 'string' } },
      },
      i: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    },
  });
  assert.deepEqual(v3[name]?.properties?.['metadata'], {
    description:
      "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
    allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
  });
  assert.deepEqual(v3[name]?.['x-kubernetes-group-version-kind'], [
    { group: 'example.com', kind: 'Widget', version: 'v1' },
  ]);
});

test('Swagger 2 gets only what it can say', () => {
  const { v2 } = openApiSchemas(crd, 'v1');
  assert.deepEqual(v2[name]?.properties?.['spec'], {
    type: 'object',
    required: ['a'],
    properties: {
      a: { type: 'string', default: 'x' },
      n: {},
      p: { 'x-kubernetes-preserve-unknown-fields': true },
      i: { 'x-kubernetes-int-or-string': true },
    },
  });
});

test('lists have a schema of their own', () => {
  const list = openApiSchemas(crd, 'v1').v3[`${name}List`];
  assert.deepEqual(list?.required, ['items']);
  assert.deepEqual(list?.properties?.['items']?.items, { $ref: `#/components/schemas/${name}` });
});

test('a version that does not exist publishes nothing, one without a schema an object', () => {
  assert.deepEqual(openApiSchemas(crd, 'v9'), { v3: {}, v2: {} });
  const bare = structuredClone(crd);
  (bare['spec'] as { versions: { schema?: unknown }[] }).versions[0]!.schema = {};
  assert.equal(openApiSchemas(bare, 'v1').v3[name]?.type, 'object');
});
