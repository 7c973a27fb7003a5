import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import fc from 'fast-check';
import {
  itemLimit,
  itemTail,
  metadataText,
  parseStored,
  toServedBytes,
  toStoredBytes,
  withHead,
  writeItem,
} from './object-bytes.ts';

const object = fc.record({
  kind: fc.constantFrom('ConfigMap', 'Widget', 'A"b\\'),
  apiVersion: fc.constantFrom('v1', 'example.com/v1'),
  metadata: fc.record({ name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) }),
  data: fc.dictionary(fc.string(), fc.jsonValue()),
}) as unknown as fc.Arbitrary<KubeObject>;

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('object bytes', () => {
  it('adds and takes the revision without touching anything else', () => {
    fc.assert(
      fc.property(object, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (given, revision) => {
        const stored = toStoredBytes(given);
        const served = toServedBytes(stored, revision);
        const { metadata, ...rest } = plain(given) as { metadata: object };
        const wanted = { ...rest, metadata: { ...metadata, resourceVersion: String(revision) } };
        assert.deepEqual(plain(JSON.parse(served.toString())), wanted);
        assert.deepEqual(plain(parseStored(stored, revision)), wanted);
        assert.deepEqual(plain(JSON.parse(metadataText(stored, revision))), wanted.metadata);
        const list = Buffer.alloc(3 + itemLimit(stored));
        const end = writeItem(list, 3, { stored, revision, isBare: false });
        assert.deepEqual(list.subarray(3, end), served);
        const bareEnd = writeItem(list, 3, { stored, revision, isBare: true });
        assert.equal(list.toString('utf8', 3, bareEnd), `{${Buffer.from(itemTail(served)).toString()}`);
      }),
    );
  });

  it('leaves out the version that a client sent', () => {
    const stored = toStoredBytes({
      kind: 'A',
      apiVersion: 'v1',
      metadata: { name: 'x', resourceVersion: '7' },
    });
    assert.equal(stored.toString(), '{"kind":"A","apiVersion":"v1","metadata":{"name":"x"}}');
  });

  it('shows another version, and the form inside lists, by joining bytes', () => {
    const served = toServedBytes(
      toStoredBytes({ metadata: { name: 'x' }, kind: 'A', apiVersion: 'g/v1', spec: { a: 1 } }),
      5,
    );
    assert.equal(
      withHead(served, 'A', 'g/v2').toString(),
      '{"kind":"A","apiVersion":"g/v2","metadata":{"resourceVersion":"5","name":"x"},"spec":{"a":1}}',
    );
    assert.equal(
      Buffer.from(itemTail(served)).toString(),
      '"metadata":{"resourceVersion":"5","name":"x"},"spec":{"a":1}}',
    );
  });
});
