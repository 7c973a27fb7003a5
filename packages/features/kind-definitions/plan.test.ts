import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import {
  markAnnotation,
  newDefinition,
  planByMark,
  planInFull,
  replacedAnnotation,
  replacedDefinition,
  whyNotServed,
} from './plan.ts';

const definition = kindDefinitions().find(({ name }) => name === 'virtualmachines.kubevirt.io');
assert.ok(definition);
const [full] = customResourceDefinitions([definition]);
assert.ok(full);
const made = withGeneration(newDefinition(definition, full), 1);

function withGeneration(crd: KubeObject, generation: number): KubeObject {
  return { ...crd, metadata: { ...crd.metadata, generation } };
}

describe('planInFull', () => {
  it('creates what is missing and leaves what is as it should be', () => {
    assert.deepEqual(planInFull(definition, undefined), { action: 'create' });
    assert.deepEqual(planInFull(definition, made), { action: 'none' });
  });

  it('replaces what says something else, or what nobody has marked', () => {
    const changed = { ...made, spec: { ...(made['spec'] as object), scope: 'Cluster' } };
    assert.deepEqual(planInFull(definition, changed), { action: 'replace' });
    assert.deepEqual(planInFull(definition, full), { action: 'replace' });
    const unlabelled: KubeObject = { ...made, metadata: { ...made.metadata, labels: {} } };
    assert.deepEqual(planInFull(definition, unlabelled), { action: 'replace' });
  });

  it('waits for one that is being deleted', () => {
    const deleted = { ...made, metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    assert.deepEqual(planInFull(definition, deleted), { action: 'wait' });
  });

  it('is content with what it has replaced, which says so', () => {
    const existing: KubeObject = {
      metadata: { name: definition.name, labels: { a: 'b' }, generation: 4 },
      spec: {},
    };
    const next = withGeneration(replacedDefinition(definition, full, existing), 5);
    assert.deepEqual(planInFull(definition, next), { action: 'none' });
    assert.deepEqual(next.metadata.labels, { a: 'b', 'kubevirt.io': '' });
    assert.match(next.metadata.annotations?.[replacedAnnotation] ?? '', /^[0-9a-f]{16}$/);
  });

  it('only marks what said the same before', () => {
    const next = replacedDefinition(definition, full, withGeneration(full, 7));
    assert.equal(next.metadata.annotations?.[markAnnotation], `${definition.digest}/7`);
    assert.equal(next.metadata.annotations?.[replacedAnnotation], undefined);
  });
});

describe('planByMark', () => {
  it('needs the metadata alone, and sees by the generation that someone has changed the spec', () => {
    const { metadata } = made;
    assert.deepEqual(planByMark(definition, { metadata }), { action: 'none' });
    assert.deepEqual(planByMark(definition, withGeneration(made, 2)), { action: 'replace' });
  });
});

describe('whyNotServed', () => {
  it('names the one who has the name', () => {
    const conditions = [
      { type: 'NamesAccepted', status: 'False', message: '"vm" is already in use' },
      { type: 'Established', status: 'False' },
    ];
    const crd = { ...made, status: { conditions } };
    assert.match(whyNotServed(crd) ?? '', /^"vm" is already in use; rename or delete/);
    assert.equal(
      whyNotServed({ ...made, status: { conditions: [{ type: 'Established', status: 'True' }] } }),
      undefined,
    );
  });
});
