import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readProtobufMetadata } from './protobuf-metadata.ts';

describe('readProtobufMetadata', () => {
  it('ends on any bytes', () => {
    const start = Buffer.from('k8s\u0000');
    for (let seed = 1; seed < 2000; seed++) {
      const noise = Buffer.from(
        Array.from({ length: seed % 40 }, (_, index) => (seed * 31 + index * seed * 7) & 0xff),
      );
      assert.equal(typeof readProtobufMetadata(Buffer.concat([start, noise])).name, 'string');
    }
    assert.deepEqual(readProtobufMetadata(Buffer.from('{}')), { name: '', uid: '', resourceVersion: '' });
  });
});
