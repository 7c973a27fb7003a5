import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import type { KubeObject } from '../../meta/object.ts';
import { kindRulesOf } from '../rules.ts';

function withStatus(kind: string, status: JsonObject): KubeObject {
  return { apiVersion: 'apps/v1', kind, metadata: { name: 'w' }, status };
}

function faults(kind: string, next: JsonObject, old: JsonObject = {}): string[] {
  const errors = kindRulesOf('apps', kind).validateStatusUpdate?.(
    withStatus(kind, next),
    withStatus(kind, old),
  );
  return (errors ?? []).map(({ field, message }) => `${field}: ${message}`);
}

test('a negative count of replicas is less than every other count', () => {
  assert.deepEqual(faults('Deployment', { replicas: -1 }), [
    'status.replicas: Invalid value: -1: must be greater than or equal to 0',
    'status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas',
    'status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas',
  ]);
});

test('what is available is ready', () => {
  const status = { replicas: 2, readyReplicas: 1, availableReplicas: 2 };
  assert.deepEqual(faults('ReplicaSet', status), [
    'status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
  ]);
  assert.deepEqual(faults('StatefulSet', status), [
    'status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas',
  ]);
});

test('collisions are only counted up', () => {
  for (const kind of ['Deployment', 'DaemonSet', 'StatefulSet']) {
    assert.deepEqual(faults(kind, { collisionCount: 2 }, { collisionCount: 1 }), []);
    assert.deepEqual(faults(kind, {}, { collisionCount: 1 }), [
      'status.collisionCount: Invalid value: 0: cannot be decremented',
    ]);
  }
});

test('counts of a daemon set do not bound each other', () => {
  assert.deepEqual(faults('DaemonSet', { numberReady: 5, numberAvailable: 7, numberMisscheduled: -1 }), [
    'status.numberMisscheduled: Invalid value: -1: must be greater than or equal to 0',
  ]);
});
