import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { compileSchema } from './compile.ts';

function defaulted(schema: JsonSchema, object: JsonObject): JsonObject {
  const copy = structuredClone(object);
  compileSchema(schema).applyDefaults(copy);
  return copy;
}

test('missing fields get their defaults, also inside defaults', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        default: {},
        properties: {
          a: { type: 'string', default: 'x' },
          list: {
            type: 'array',
            items: { type: 'object', properties: { p: { type: 'string', default: 'TCP' } } },
          },
          map: {
            type: 'object',
            additionalProperties: { type: 'object', properties: { n: { type: 'integer', default: 0 } } },
          },
        },
      },
    },
  };
  assert.deepEqual(defaulted(schema, {}), { spec: { a: 'x' } });
  assert.deepEqual(defaulted(schema, { spec: { a: '', list: [{}], map: { k: {} } } }), {
    spec: { a: '', list: [{ p: 'TCP' }], map: { k: { n: 0 } } },
  });
});

test('a null that is not allowed is replaced, an allowed one stays', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'string', default: 'x' },
      b: { type: 'string', default: 'x', nullable: true },
      l: { type: 'array', items: { type: 'string', default: 'y' } },
    },
  };
  assert.deepEqual(defaulted(schema, { a: null, b: null, l: [null] }), { a: 'x', b: null, l: ['y'] });
});

test('each object gets its own copy', () => {
  const compiled = compileSchema({
    type: 'object',
    properties: { a: { type: 'object', default: { b: [] }, 'x-kubernetes-preserve-unknown-fields': true } },
  });
  const first: JsonObject = {};
  const second: JsonObject = {};
  compiled.applyDefaults(first);
  compiled.applyDefaults(second);
  assert.deepEqual(first, second);
  assert.notEqual(first['a'], second['a']);
});

test('a default for __proto__ sets a field, not the prototype', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"object","default":{"polluted":true},"x-kubernetes-preserve-unknown-fields":true}}}',
  ) as JsonSchema;
  const object: JsonObject = {};
  compileSchema(schema).applyDefaults(object);
  assert.equal(JSON.stringify(object), '{"__proto__":{"polluted":true}}');
  assert.equal(({} as JsonObject)['polluted'], undefined);
});
