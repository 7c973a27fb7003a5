import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import { compileSchemaLazily } from './compile.ts';

it('a schema is made ready by its first use, once', () => {
  let reads = 0;
  const schema: JsonSchema = {
    type: 'object',
    get properties() {
      reads++;
      return { spec: { type: 'object' as const, properties: { a: { type: 'integer' as const } } } };
    },
  };
  const compiled = compileSchemaLazily(schema);
  assert.equal(reads, 0);
  const object = { apiVersion: 'example.com/v1', kind: 'A', metadata: {}, spec: { a: 1, b: 2 } };
  assert.deepEqual(compiled.prune(object), ['spec.b']);
  assert.deepEqual(compiled.validate(object), []);
  const afterUse = reads;
  assert.equal(compiled.validate({ ...object, spec: { a: 'x' } }).length, 1);
  assert.equal(reads, afterUse);
});
