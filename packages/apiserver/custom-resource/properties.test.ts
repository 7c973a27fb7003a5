import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema, KubeObject } from '@sheaf/api';
import type { JsonObject, JsonValue } from '@sheaf/base';
import fc from 'fast-check';
import { compileCheck } from './check.ts';
import { type CompiledSchema, compileSchema } from './compile.ts';
import { readDefinition } from './definition.ts';
import { validateDefinition } from './definition-validation.ts';
import { certificate, certificateObject, route, virtualMachine } from './definitions.fixture.ts';
import { explain } from './explain.ts';
import { openApiSchemas } from './publish.ts';
import { readSchema } from './schema-node.ts';

const compiled: readonly CompiledSchema[] = [certificate, virtualMachine, route].map((crd) =>
  compileSchema(readDefinition(crd).versions[0]?.schema),
);
const names = fc.constantFrom(
  'spec',
  'status',
  'secretName',
  'dnsNames',
  'privateKey',
  'size',
  'issuerRef',
  'name',
  'template',
  'cpu',
  'cores',
  'memory',
  'disks',
  'hostnames',
  'rules',
  'matches',
  'path',
  'type',
  'value',
  'weights',
  'dataVolumeTemplates',
  'metadata',
  'kind',
  'apiVersion',
  '__proto__',
  'constructor',
  'zork',
);
const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, 0, 1, 1.5, -3, 1e20, '', 'x', 'Always', '1Gi', '😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie('value')), { maxLength: 5 }).map((entries) => toObject(entries)),
  ),
}));

function toObject(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return JSON.parse(
    `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
  );
}

function objectOf(spec: JsonValue, status: JsonValue): JsonObject {
  return { apiVersion: 'a.example.com/v1', kind: 'K', metadata: { name: 'x' }, spec, status };
}

function prune(schema: CompiledSchema, object: JsonObject): readonly string[] {
  return schema.prune(object, { dropInvalidMetadata: true });
}

test('pruning and defaulting are idempotent, validation never throws', () => {
  fc.assert(
    fc.property(anyValue, anyValue, fc.nat(2), (spec, status, index) => {
      const schema = compiled[index]!;
      const object = objectOf(spec, status);
      prune(schema, object);
      const pruned = structuredClone(object);
      assert.deepEqual(prune(schema, object), []);
      assert.deepEqual(object, pruned);
      schema.applyDefaults(object);
      const defaulted = structuredClone(object);
      schema.applyDefaults(object);
      assert.deepEqual(object, defaulted);
      schema.validate(object);
      schema.validate(object, pruned);
      assert.equal(({} as JsonObject)['zork'], undefined);
    }),
    { numRuns: 150 },
  );
});

test('the fast check and the exact explanation agree', () => {
  const root = readSchema(readDefinition(virtualMachine).versions[0]?.schema);
  const check = compileCheck(root);
  fc.assert(
    fc.property(anyValue, (spec) => {
      const value = objectOf(spec, {});
      const errors = explain(root, { value, path: '', old: undefined });
      assert.equal(check(value), errors.length === 0);
    }),
    { numRuns: 150 },
  );
});

test('a valid object passes as it is', () => {
  const schema = compiled[0]!;
  const object = structuredClone(certificateObject);
  assert.deepEqual(schema.prune(object), []);
  schema.applyDefaults(object);
  assert.deepEqual(object, certificateObject);
  assert.deepEqual(schema.validate(object), []);
});

const keywords = fc.constantFrom(
  'type',
  'properties',
  'items',
  'additionalProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'default',
  'enum',
  'pattern',
  'required',
  'minimum',
  'multipleOf',
  'format',
  'nullable',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
  '__proto__',
  'metadata',
  'a',
);
const { schema: anySchema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<JsonValue>(
      null,
      true,
      false,
      0,
      -1,
      'object',
      'array',
      'string',
      'map',
      '(',
      '^a+$',
      'date',
    ),
    fc.array(tie('schema'), { maxLength: 3 }),
    fc.array(fc.tuple(keywords, tie('schema')), { maxLength: 6 }).map((entries) => toObject(entries)),
  ),
}));

test('any schema, however odd, is judged, compiled and published without an exception', () => {
  fc.assert(
    fc.property(anySchema, anyValue, (schema, value) => {
      const crd = {
        ...certificate,
        spec: {
          ...(certificate['spec'] as JsonObject),
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
        },
      } as KubeObject;
      validateDefinition(crd);
      openApiSchemas(crd, 'v1');
      const made = compileSchema(schema as JsonSchema);
      const object = objectOf(value, {});
      prune(made, object);
      made.applyDefaults(object);
      made.validate(object);
    }),
    { numRuns: 150 },
  );
});
