import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import { readDefinition } from './definition.ts';
import { goVersions } from './go-versions.ts';

function shown(...versions: JsonObject[]): readonly JsonObject[] {
  return goVersions(readDefinition({ metadata: {}, spec: { versions } }).versions);
}

const bare = {
  Deprecated: false,
  DeprecationWarning: null,
  Schema: null,
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null,
};

test('what all versions share is shown by none', () => {
  const schema = { openAPIV3Schema: { type: 'object' } };
  assert.deepEqual(
    shown({ name: 'v1', served: true, storage: true, schema }, { name: 'v2', served: false, schema }),
    [
      { Name: 'v1', Served: true, Storage: true, ...bare },
      { Name: 'v2', Served: false, Storage: false, ...bare },
    ],
  );
});

test('what is one version’s own is shown with every field', () => {
  const [first, second] = shown(
    {
      name: 'v1',
      subresources: { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' } },
      additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
      selectableFields: [{ jsonPath: '.spec.a' }],
      schema: { openAPIV3Schema: { type: 'object', properties: { b: { type: 'string' }, a: {} } } },
    },
    { name: 'v2' },
  );
  const { Schema: schema, ...rest } = first ?? {};
  assert.deepEqual(rest, {
    Name: 'v1',
    Served: false,
    Storage: false,
    Deprecated: false,
    DeprecationWarning: null,
    Subresources: {
      Status: null,
      Scale: { SpecReplicasPath: '.spec.a', StatusReplicasPath: '.status.a', LabelSelectorPath: null },
    },
    AdditionalPrinterColumns: [
      { Name: 'A', Type: 'string', Format: '', Description: '', Priority: 0, JSONPath: '.spec.a' },
    ],
    SelectableFields: [{ JSONPath: '.spec.a' }],
  });
  const root = (schema as { OpenAPIV3Schema: JsonObject }).OpenAPIV3Schema;
  assert.equal(Object.keys(root).length, 44);
  assert.equal(root['Type'], 'object');
  assert.deepEqual(Object.keys(root['Properties'] as JsonObject), ['a', 'b']);
  assert.deepEqual(second, { Name: 'v2', Served: false, Storage: false, ...bare });
});
