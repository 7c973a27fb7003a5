import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { compileSchema } from './compile.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 3 },
        size: { type: 'integer', maximum: 5 },
        labels: { type: 'object', additionalProperties: { type: 'string', pattern: '^a' } },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, port: { type: 'integer', maximum: 100 } },
          },
        },
        hosts: { type: 'array', items: { type: 'string', minLength: 2 } },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        choice: { type: 'object', properties: { a: { type: 'string' } }, oneOf: [{ required: ['a'] }] },
      },
    },
  },
};
const compiled = compileSchema(schema);

function fieldsOf(before: JsonObject, after: JsonObject): readonly string[] {
  const base = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };
  const errors = compiled.validate({ ...base, spec: after }, { ...base, spec: before });
  return errors.map((error) => error.field);
}

test('an unchanged invalid field is let pass while another changes', () => {
  assert.deepEqual(fieldsOf({ name: 'too-long', size: 1 }, { name: 'too-long', size: 2 }), []);
});

test('a changed field is judged', () => {
  assert.deepEqual(fieldsOf({ name: 'too-long' }, { name: 'longer-still' }), ['spec.name']);
});

test('values of maps are matched by key', () => {
  assert.deepEqual(fieldsOf({ labels: { k: 'x' } }, { labels: { k: 'x', l: 'y' } }), ['spec.labels.l']);
});

test('items of map lists are matched by their keys, wherever they are', () => {
  const old = {
    ports: [
      { name: 'a', port: 1 },
      { name: 'b', port: 200 },
    ],
  };
  assert.deepEqual(
    fieldsOf(old, {
      ports: [
        { name: 'b', port: 200 },
        { name: 'a', port: 2 },
      ],
    }),
    [],
  );
  assert.deepEqual(fieldsOf(old, { ports: [{ name: 'c', port: 200 }] }), ['spec.ports[0].port']);
});

test('items of other lists are judged anew unless the whole list is unchanged', () => {
  assert.deepEqual(fieldsOf({ hosts: ['x'] }, { hosts: ['x', 'yy'] }), ['spec.hosts[0]']);
  assert.deepEqual(fieldsOf({ hosts: ['x'], size: 1 }, { hosts: ['x'], size: 2 }), []);
});

test('what was unique must stay so, what was not may stay', () => {
  assert.deepEqual(fieldsOf({ tags: ['a'] }, { tags: ['a', 'a'] }), ['spec.tags[1]']);
  assert.deepEqual(fieldsOf({ tags: ['a', 'a'] }, { tags: ['a', 'a', 'b', 'b'] }), []);
});

test('an unchanged object keeps failing its oneOf silently', () => {
  assert.deepEqual(fieldsOf({ choice: {}, size: 1 }, { choice: {}, size: 2 }), []);
  assert.deepEqual(fieldsOf({}, { choice: {} }), ['<nil>', 'spec.choice.a']);
});
