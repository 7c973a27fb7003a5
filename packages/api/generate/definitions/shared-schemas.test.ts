import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expandDefinition } from '../../virtualization/expand-definition.ts';
import { committedDefinition } from './committed-definitions.ts';
import type { SchemaNode } from './json-schema.ts';
import type { PublishedDefinition } from './published-definitions.ts';
import { SharedSchemas } from './shared-schemas.ts';

const long = 'A word that is long enough for its node to be worth a place of its own in the file of schemas.';
const address: SchemaNode = {
  type: 'object',
  description: long,
  properties: { host: { type: 'string', pattern: '^[a-z]+$' }, port: { type: 'integer', format: 'int32' } },
};
const schema: SchemaNode = {
  type: 'object',
  properties: {
    from: address,
    to: address,
    more: { type: 'array', maxItems: 3, items: address },
    once: { type: 'string', description: `${long} Once.` },
  },
};

function definition(names: object, versions: readonly object[]): PublishedDefinition {
  return {
    metadata: { name: 'ways.b', annotations: { generator: 'x', 'api-approved.kubernetes.io': 'y' } },
    spec: { group: 'b', names, scope: 'Namespaced', versions },
  } as unknown as PublishedDefinition;
}

describe('shared schemas', () => {
  const shared = new SharedSchemas();
  const names = { plural: 'ways', kind: 'Way' };
  const version = { served: true, schema: { openAPIV3Schema: schema } };
  const committed = committedDefinition(
    definition(names, [
      { ...version, name: 'v1', storage: true, subresources: {} },
      { ...version, name: 'v1beta1', storage: false },
      { ...version, name: 'v1alpha1', storage: false, served: false },
    ]),
    shared,
  );
  const components = Object.fromEntries(shared.components());

  it('are written once, and a schema of two versions is one', () => {
    assert.deepEqual(Object.keys(components), ['Way.b/v1', 'from.1']);
    assert.deepEqual(components['from.1'], address);
    assert.deepEqual(components['Way.b/v1']?.properties?.['more'], {
      type: 'array',
      maxItems: 3,
      items: { $ref: 'from.1' },
    });
  });

  it('say in full what was published', () => {
    const full = { schema: { openAPIV3Schema: schema }, served: true };
    assert.deepEqual(expandDefinition(committed, components), {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'ways.b', annotations: { 'api-approved.kubernetes.io': 'y' } },
      spec: {
        group: 'b',
        names: { plural: 'ways', singular: 'way', kind: 'Way', listKind: 'WayList' },
        scope: 'Namespaced',
        versions: [
          { ...full, name: 'v1', storage: true },
          { ...full, name: 'v1beta1', storage: false },
        ],
        conversion: { strategy: 'None' },
      },
    });
  });
});
