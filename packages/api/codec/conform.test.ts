import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '@sheaf/base';
import { StatusError } from '@sheaf/base';
import fc from 'fast-check';
import { goStruct } from '../builtin/go-struct.ts';
import { findGoKind } from '../builtin/kinds.ts';
import { parseApiVersion } from '../meta/object.ts';
import { conform } from './conform.ts';

interface Kinded extends JsonObject {
  apiVersion: string;
  kind: string;
}

function conformed(object: Kinded): { value: JsonObject; unknownFields: readonly string[] } {
  const { group, version } = parseApiVersion(object.apiVersion);
  const { kind } = object;
  const struct = findGoKind({ group, version, kind });
  assert.ok(struct, kind);
  return conform(object, struct, { kind, version });
}

function lines(file: string): string[] {
  return readFileSync(join(import.meta.dirname, file), 'utf8')
    .trim()
    .split('\n');
}

function sortedKeys(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

interface Answer {
  text?: string;
  strict?: string[];
  error?: string;
}

test('decodes mutated objects as the recorded Go decoder does, errors included', () => {
  for (const line of lines('fixtures/decode.jsonl')) {
    const [question, expected] = JSON.parse(line) as [{ text: string }, Answer];
    let actual: Answer;
    try {
      const { value, unknownFields } = conformed(JSON.parse(question.text) as Kinded);
      actual = { text: sortedKeys(JSON.stringify(value)) };
      if (unknownFields.length > 0) actual.strict = [...unknownFields];
    } catch (error) {
      assert.ok(StatusError.is(error, 'BadRequest'), question.text);
      actual = { error: error.message.replace(/^.*? cannot be handled as a \w+: /s, '') };
    }
    if (expected.text !== undefined) expected.text = sortedKeys(expected.text);
    assert.deepEqual(actual, expected, question.text);
  }
});

test('leaves what Go wrote as it is, down to the order of fields', () => {
  for (const line of lines('../protobuf/fixtures/kinds.jsonl')) {
    const { json } = JSON.parse(line) as { json: Kinded };
    const text = JSON.stringify(json);
    assert.equal(JSON.stringify(conformed(json).value), text, `${json.apiVersion} ${json.kind}`);
  }
});

test('names kind and version in its refusals', () => {
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 'three' } };
  assert.throws(() => conformed(object), {
    reason: 'BadRequest',
    message:
      'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  });
});

test('keeps fields named like parts of the prototype', () => {
  const text =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{},"data":{"__proto__":"a","constructor":"b"}}';
  const { value } = conformed(JSON.parse(text) as Kinded);
  assert.equal(
    JSON.stringify(value),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{"__proto__":"a","constructor":"b"}}',
  );
  const binary = '{"apiVersion":"v1","kind":"Secret","metadata":{},"data":{"__proto__":"YQ=="}}';
  const secret = conformed(JSON.parse(binary) as Kinded).value;
  assert.equal(JSON.stringify(secret['data']), '{"__proto__":"YQ=="}');
});

test('reads null inside of a map of bytes as no bytes', () => {
  const { value } = conformed({ apiVersion: 'v1', kind: 'ConfigMap', binaryData: { a: null, b: 'YQ==' } });
  assert.deepEqual(value['binaryData'], { a: '', b: 'YQ==' });
});

test('reports at most a hundred unknown fields', () => {
  const data = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x${index}`, 1]));
  const { unknownFields } = conformed({ apiVersion: 'v1', kind: 'ConfigMap', ...data });
  assert.equal(unknownFields.length, 100);
});

test('any JSON either conforms, and then conforms to itself, or is a bad request', () => {
  const struct = goStruct('core/v1.Pod');
  const keys = [
    'metadata',
    'spec',
    'containers',
    'name',
    'resources',
    'limits',
    'env',
    'ports',
    'creationTimestamp',
    'x',
  ];
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom<JsonValue>(null, 1, 'a', true, '100m', 1.5, ''),
      fc.dictionary(fc.constantFrom(...keys), tie('value')),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  }));
  const check = fc.property(value, (input) => {
    try {
      const once = conform(structuredClone(input), struct, { kind: 'Pod', version: 'v1' }).value;
      const twice = conform(structuredClone(once), struct, { kind: 'Pod', version: 'v1' }).value;
      assert.deepEqual(twice, once);
    } catch (error) {
      assert.ok(StatusError.is(error, 'BadRequest'), String(error));
    }
  });
  fc.assert(check, { numRuns: 300 });
});
