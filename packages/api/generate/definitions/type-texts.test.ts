import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SchemaNode } from './json-schema.ts';
import { TypeTexts } from './type-texts.ts';

const port: SchemaNode = { type: 'object', properties: { number: { type: 'integer' } } };
const way: SchemaNode = {
  type: 'object',
  description: 'A way. It leads somewhere.',
  required: ['mode'],
  properties: {
    apiVersion: { type: 'string' },
    mode: { type: 'string', enum: ['a', 'b'] },
    'a-b': { type: 'array', items: { anyOf: [], 'x-kubernetes-int-or-string': true } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    metadata: { type: 'object' },
    template: {
      type: 'object',
      nullable: true,
      properties: { metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
    port: { ...port, description: 'Where.' },
  },
};

describe('type texts', () => {
  const types = new TypeTexts();
  types.name(port, { name: 'Port', file: 'way.ts' });
  const text = types.objectOf({ name: 'Way', file: 'way.ts' }, way);

  it('say what the schema says', () => {
    assert.equal(
      text,
      `/** A way. */
export interface Way extends KubeObject {
  readonly mode: 'a' | 'b';
  readonly 'a-b'?: readonly (string | number)[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly template?: {
    readonly metadata?: ObjectMeta;
  } | null;
  /** Where. */
  readonly port?: Port;
}`,
    );
  });

  it('import what is declared elsewhere', () => {
    assert.deepEqual(types.importsOf('way.ts', [text]), [
      ['../../meta/object.ts', ['KubeObject', 'ObjectMeta']],
    ]);
  });

  it('do not take few equal fields in another file for the same type', () => {
    const other = types.interfaceOf({ name: 'Other', file: 'other.ts' }, { properties: { port } });
    assert.match(other, /readonly port\?: \{/);
  });
});
