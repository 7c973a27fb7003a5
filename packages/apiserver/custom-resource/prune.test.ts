import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import { isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import { compileSchema } from './compile.ts';

const base = { apiVersion: 'example.com/v1', kind: 'Widget' };

function prune(schema: JsonSchema, object: JsonObject): { object: JsonObject; unknown: readonly string[] } {
  const copy = structuredClone({ ...base, ...object });
  const unknown = compileSchema(schema).prune(copy);
  return { object: Object.fromEntries(Object.entries(copy).filter(([key]) => !(key in base))), unknown };
}

const typed: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        list: { type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } },
        map: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { c: { type: 'string' } } },
        },
        free: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: { d: { type: 'string' } } } },
        },
      },
    },
  },
};

test('unknown fields are dropped and named', () => {
  const result = prune(typed, {
    zork: 1,
    spec: { a: 'x', zork: { deep: 1 }, list: [{ b: 'x', zork: 1 }], map: { k: { c: '', zork: 1 } } },
  });
  assert.deepEqual(result, {
    object: { spec: { a: 'x', list: [{ b: 'x' }], map: { k: { c: '' } } } },
    unknown: ['spec.list[0].zork', 'spec.map.k.zork', 'spec.zork', 'zork'],
  });
});

test('below preserve-unknown-fields everything stays but what a known field does not know', () => {
  const result = prune(typed, { spec: { free: { any: { thing: 1 }, known: { d: '', zork: 1 } } } });
  assert.deepEqual(result, {
    object: { spec: { free: { any: { thing: 1 }, known: { d: '' } } } },
    unknown: ['spec.free.known.zork'],
  });
});

test('without a schema only kind, apiVersion and metadata stay', () => {
  const copy: JsonObject = { ...base, metadata: { name: 'a' }, spec: {} };
  assert.deepEqual(compileSchema(undefined).prune(copy), ['spec']);
  assert.deepEqual(copy, { ...base, metadata: { name: 'a' } });
});

test('nulls that are not allowed are dropped, silently', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { type: 'string', nullable: true },
      c: { type: 'string', default: 'x' },
      m: { type: 'object', additionalProperties: { type: 'string' } },
      l: { type: 'array', items: { type: 'string' } },
    },
  };
  assert.deepEqual(prune(schema, { a: null, b: null, c: null, m: { k: null }, l: [null] }), {
    object: { b: null, c: null, m: {}, l: [null] },
    unknown: [],
  });
});

test('metadata is read as ObjectMeta', () => {
  const result = prune(
    { type: 'object' },
    {
      metadata: {
        name: 'a',
        labels: {},
        zork: 1,
        creationTimestamp: '2020-01-01T00:00:00.5+02:00',
        deletionGracePeriodSeconds: 0,
        ownerReferences: [{ name: 'x', foo: 1 }],
        managedFields: [{ manager: 'm', time: null, fieldsV1: {} }],
      },
    },
  );
  assert.deepEqual(result, {
    object: {
      metadata: {
        name: 'a',
        creationTimestamp: '2019-12-31T22:00:00Z',
        deletionGracePeriodSeconds: 0,
        ownerReferences: [{ apiVersion: '', kind: '', name: 'x', uid: '' }],
        managedFields: [{ manager: 'm', fieldsV1: {} }],
      },
    },
    unknown: ['metadata.ownerReferences[0].foo', 'metadata.zork'],
  });
});

const badMetadata: readonly (readonly [JsonObject[string], string])[] = [
  ['s', 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
  [{ name: 5 }, 'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string'],
  [
    { labels: { a: 1 } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  ],
  [
    { labels: 'x' },
    'json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string',
  ],
  [
    { generation: 1.5 },
    'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64',
  ],
  [
    { finalizers: [1] },
    'json: cannot unmarshal number into Go struct field ObjectMeta.finalizers of type string',
  ],
  [
    { ownerReferences: [{ name: 1 }] },
    'json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.name of type string',
  ],
  [{ creationTimestamp: 'x' }, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
  [
    { deletionTimestamp: '2020-01-01' },
    'parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
  ],
];

for (const [metadata, reason] of badMetadata) {
  test(`metadata ${JSON.stringify(metadata)} is refused`, () => {
    const compiled = compileSchema({ type: 'object' });
    assert.throws(
      () => compiled.prune({ ...base, metadata }),
      (error) =>
        StatusError.is(error, 'BadRequest') &&
        error.message === `Widget in version "v1" cannot be handled as a Widget: ${reason}`,
    );
    const stored: JsonObject = { ...base, metadata };
    if (!isJsonObject(metadata)) return;
    compiled.prune(stored, { dropInvalidMetadata: true });
    assert.equal(typeof stored['metadata'], 'object');
  });
}

test('embedded resources keep kind, apiVersion and metadata, which is read as ObjectMeta', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      t: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
    },
  };
  const t = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', zork: 1 }, spec: {}, zork: 1 };
  assert.deepEqual(prune(schema, { t }), {
    object: { t: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} } },
    unknown: ['t.zork', 't.metadata.zork'],
  });
});
