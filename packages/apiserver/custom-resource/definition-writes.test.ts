import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionWarnings, keepDefinitionStatus } from './definition-writes.ts';
import { define } from './definitions.fixture.ts';

const crd = define({
  group: 'example.com',
  plural: 'widgets',
  kind: 'Widget',
  schema: {
    type: 'object',
    properties: { a: { type: 'string', format: 'zork' }, b: { type: 'integer', format: 'int32' } },
  },
});

test('formats that are not enforced are warned of, once', () => {
  assert.deepEqual(definitionWarnings(crd), ['unrecognized format "zork"']);
  assert.deepEqual(definitionWarnings(crd, crd), []);
});

test('a create starts undecided with the stored version, an update keeps the status and adds to it', () => {
  const next = structuredClone(crd);
  next['status'] = { conditions: [{ type: 'Established', status: 'True' }] };
  keepDefinitionStatus(next);
  assert.deepEqual(next['status'], {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: ['v1'],
  });
  keepDefinitionStatus(next, { ...crd, status: { storedVersions: ['v0'], acceptedNames: {} } });
  assert.deepEqual(next['status'], { storedVersions: ['v0', 'v1'], acceptedNames: {} });
});
