import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import type { JsonObject, JsonValue } from '@sheaf/base';
import { compileSchema } from './compile.ts';
import { validateDefinition } from './definition-validation.ts';
import { define } from './definitions.fixture.ts';
import { compilePattern } from './pattern.ts';
import { SchemaTooDeep } from './schema-node.ts';

function nest(depth: number, wrap: (inner: JsonValue) => JsonValue, core: JsonValue = {}): JsonValue {
  let value = core;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

test('a schema that is nested too deep is refused', () => {
  const schema = nest(5000, (inner) => ({ type: 'object', properties: { a: inner } }), {
    type: 'string',
  }) as JsonSchema;
  const crd = define({ group: 'example.com', plural: 'widgets', kind: 'Widget', schema });
  assert.deepEqual(
    validateDefinition(crd).map((error) => error.message),
    ['Invalid value: "": schema is nested deeper than 250 levels'],
  );
  assert.throws(() => compileSchema(schema), SchemaTooDeep);
});

test('a default that is nested too deep is refused', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'array', items: { type: 'string' }, default: nest(5000, (inner) => [inner], []) },
    },
  };
  const crd = define({ group: 'example.com', plural: 'widgets', kind: 'Widget', schema });
  assert.equal(validateDefinition(crd).length, 1);
});

test('deep values are pruned and validated without overflow', () => {
  const compiled = compileSchema({
    type: 'object',
    properties: {
      typed: { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  });
  const deepLists = nest(9000, (inner) => [inner], []);
  const deepObjects = nest(9000, (inner) => ({ a: inner }));
  const object: JsonObject = {
    apiVersion: 'e.com/v1',
    kind: 'K',
    metadata: {},
    typed: { a: deepLists },
    free: deepObjects,
    zork: deepObjects,
  };
  assert.deepEqual(compiled.prune(object), ['zork']);
  compiled.applyDefaults(object);
  assert.equal(compiled.validate(object).length, 1);
});

test('patterns that take exponential time elsewhere take linear time here', () => {
  const evil = compilePattern('^(([a-z])+.)+[A-Z]([a-z])+$');
  assert.equal(evil(`${'a'.repeat(50_000)}!`), false);
  const simple = compilePattern('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$');
  assert.equal(simple(`${'a-'.repeat(100_000)}`), false);
  const subdomain = compilePattern('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$');
  assert.equal(subdomain(`${'a.a-'.repeat(5_000)}!`), false);
});

test('native and RE2 patterns mean the same', () => {
  const texts = ['', 'a', 'A1', 'a-b', 'a.b', '-a', 'a\n', '10', 'é', 'a_b', '1h'];
  for (const source of [
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    '^(a|b|10)$',
    '^\\d{1,3}$',
    '^[A-Za-z0-9_.]+$',
    '^(a)?-?b?$',
  ]) {
    const native = compilePattern(source);
    const wrapped = compilePattern(`(?:)${source}`);
    for (const text of texts)
      assert.equal(native(text), wrapped(text), `${source} on ${JSON.stringify(text)}`);
  }
});

test('huge values in messages are cut', () => {
  const compiled = compileSchema({
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'integer' }, enum: [[1]] } },
  });
  const object = { metadata: {}, a: Array.from({ length: 200_000 }, () => 1) };
  const [error] = compiled.validate(object);
  assert.ok((error?.message.length ?? 0) < 70_000);
});
