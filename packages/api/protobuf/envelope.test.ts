import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type JsonObject, StatusError } from '@sheaf/base';
import fc from 'fast-check';
import { goStruct } from '../builtin/go-struct.ts';
import { builtinResources } from '../builtin/kinds.ts';
import { decodeEnvelope, decodeWatchEvent, encodeEnvelope, hasProtobuf, watchFrame } from './envelope.ts';

interface Fixture {
  readonly json: JsonObject & { apiVersion: string; kind: string };
  readonly protobuf: string;
}

const fixtures = readFileSync(join(import.meta.dirname, 'fixtures', 'kinds.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Fixture);

test('reads every kind as Go does', () => {
  for (const { json, protobuf } of fixtures) {
    const { object } = decodeEnvelope(Buffer.from(protobuf, 'base64'));
    assert.equal(JSON.stringify(object), JSON.stringify(json), `${json.apiVersion} ${json.kind}`);
  }
});

test('writes every kind to the byte as Go does', () => {
  for (const { json, protobuf } of fixtures) {
    const bytes = Buffer.from(encodeEnvelope(json)).toString('base64');
    assert.equal(bytes, protobuf, `${json.apiVersion} ${json.kind}`);
  }
});

test('has fixtures of every served kind and its list', () => {
  const known = new Set(fixtures.map(({ json }) => `${json.apiVersion} ${json.kind}`));
  for (const resource of builtinResources) {
    const version = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    assert.ok(known.has(`${version} ${resource.kind}`), resource.kind);
    if (resource.listKind !== '') assert.ok(known.has(`${version} ${resource.listKind}`), resource.listKind);
    assert.ok(hasProtobuf(resource));
  }
  assert.equal(hasProtobuf({ group: 'meta.k8s.io', version: 'v1', kind: 'Table' }), false);
  assert.equal(hasProtobuf({ group: 'example.com', version: 'v1', kind: 'Widget' }), false);
});

test('frames watch events around an envelope', () => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'größe' }, data: { a: 'b' } };
  const frame = watchFrame('ADDED', encodeEnvelope(object));
  const view = Buffer.from(frame);
  assert.equal(view.readUInt32BE(0), frame.length - 4);
  const { type, event } = decodeWatchEvent(view.subarray(4));
  assert.deepEqual({ type, object: event.object }, { type: 'ADDED', object });
});

test('takes the expected kind where the body names none', () => {
  const envelope = Buffer.from([0x6b, 0x38, 0x73, 0, 0x12, 0]);
  const { object } = decodeEnvelope(envelope, { apiVersion: 'v1', kind: 'DeleteOptions' });
  assert.deepEqual(object, { kind: 'DeleteOptions', apiVersion: 'v1' });
});

test('keeps maps with unusual keys and large integers', () => {
  const data = JSON.parse('{"__proto__":"a","constructor":"b"}') as JsonObject;
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generation: -5_000_000_000 }, data };
  const decoded = decodeEnvelope(encodeEnvelope(object)).object;
  assert.equal(JSON.stringify(decoded), JSON.stringify({ ...object, data }));
  assert.deepEqual(decoded['metadata'], { generation: -5_000_000_000 });
});

test('writes large strings and bytes', () => {
  const object = {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: {},
    data: { a: Buffer.alloc(3_000_000, 7).toString('base64') },
    stringData: { b: 'ü'.repeat(500_000) },
  };
  assert.deepEqual(decodeEnvelope(encodeEnvelope(object)).object, object);
});

test('refuses what is no envelope', () => {
  const cases: [Uint8Array, RegExp][] = [
    [new Uint8Array(), /empty data/],
    [Buffer.from('{}'), /does not appear to be a protobuf message, expected prefix \[107 56 115 0\]/],
    [encodeUnknown('v1', 'Nope'), /no kind "Nope" is registered for version "v1"/],
    [encodeUnknown('meta.k8s.io/v1', 'Table'), /no kind "Table"/],
  ];
  for (const [bytes, message] of cases) {
    assert.throws(
      () => decodeEnvelope(bytes),
      (error) => StatusError.is(error, 'BadRequest') && message.test(error.message),
    );
  }
});

function encodeUnknown(apiVersion: string, kind: string): Uint8Array {
  const meta = [0x0a, apiVersion.length, ...Buffer.from(apiVersion), 0x12, kind.length, ...Buffer.from(kind)];
  return Uint8Array.from([0x6b, 0x38, 0x73, 0, 0x0a, meta.length, ...meta]);
}

test('refuses deep nesting', () => {
  // JSONSchemaProps.not within itself, from the inside out.
  const props = goStruct('apiextensions/v1.JSONSchemaProps');
  const not = props.protoFields.find((field) => props.fields[field.slot]?.json === 'not');
  const tag = (not?.number ?? 0) * 8 + 2;
  let schema = Buffer.alloc(0);
  for (let depth = 0; depth < 2000; depth++) {
    schema = Buffer.concat([Buffer.from([(tag & 0x7f) | 0x80, tag >>> 7]), lengthOf(schema), schema]);
  }
  const validation = Buffer.concat([Buffer.from([0x0a]), lengthOf(schema), schema]);
  const version = Buffer.concat([Buffer.from([0x22]), lengthOf(validation), validation]);
  const spec = Buffer.concat([Buffer.from([0x3a]), lengthOf(version), version]);
  const object = Buffer.concat([Buffer.from([0x12]), lengthOf(spec), spec]);
  const head = encodeUnknown('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
  const bytes = Buffer.concat([head, Buffer.from([0x12]), lengthOf(object), object]);
  assert.throws(() => decodeEnvelope(bytes), /exceeded max depth/);
});

function lengthOf(bytes: Uint8Array): Buffer {
  const out: number[] = [];
  let rest = bytes.length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest & 0x7f) | 0x80);
  return Buffer.from([...out, rest]);
}

test('mutated and truncated bytes decode or are a bad request', () => {
  const sources = fixtures.filter(({ protobuf }) => protobuf.length < 6000);
  const mutations = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 });
  const check = fc.property(fc.nat(), mutations, fc.nat(), (index, changes, cut) => {
    const source = sources[index % sources.length];
    assert.ok(source);
    const bytes = Buffer.from(source.protobuf, 'base64');
    for (const [at, value] of changes) bytes[4 + (at % (bytes.length - 4))] = value;
    const end = changes.length < 2 ? cut % (bytes.length + 1) : bytes.length;
    try {
      const { object } = decodeEnvelope(bytes.subarray(0, end));
      encodeEnvelope(object);
    } catch (error) {
      assert.ok(StatusError.is(error, 'BadRequest'), String(error instanceof Error ? error.stack : error));
    }
  });
  fc.assert(check, { numRuns: 1500 });
});

test('noise behind the prefix decodes or is a bad request', () => {
  const check = fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
    const bytes = Buffer.concat([
      encodeUnknown('v1', 'Pod'),
      Buffer.from([0x12, noise.length & 0x7f]),
      noise,
    ]);
    try {
      decodeEnvelope(bytes);
    } catch (error) {
      assert.ok(StatusError.is(error, 'BadRequest'), String(error));
    }
  });
  fc.assert(check, { numRuns: 500 });
});
