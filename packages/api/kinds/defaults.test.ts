import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findGoKind } from '../builtin/kinds.ts';
import { conform } from '../codec/conform.ts';
import { asObject, type KubeObject, parseApiVersion } from '../meta/object.ts';
import { conversionOf, kindRulesOf } from './rules.ts';

interface Recorded {
  readonly path: string;
  readonly object: object;
  readonly answer: KubeObject;
  readonly warnings?: readonly string[];
}

const file = new URL('fixtures/accepted.json', import.meta.url);
const recorded: readonly Recorded[] = JSON.parse(readFileSync(file, 'utf8'));

/** Paths that admission and allocation fill in, by kind. */
const ofOthers: Readonly<Record<string, readonly string[]>> = {
  Pod: [
    'spec.tolerations',
    'spec.priority',
    'spec.preemptionPolicy',
    'spec.serviceAccount',
    'spec.serviceAccountName',
    'status.conditions',
    'status.message',
  ],
  Service: ['spec.clusterIP', 'spec.clusterIPs', 'spec.ipFamilies', 'spec.ipFamilyPolicy'],
  PersistentVolumeClaim: ['metadata.finalizers'],
  PersistentVolume: ['metadata.finalizers'],
  VolumeAttributesClass: ['metadata.finalizers'],
  APIService: ['metadata.labels', 'status'],
  Node: ['spec.taints'],
  CSIDriver: ['metadata.generation'],
};

type Fields = Record<string, Record<string, unknown> | undefined>;

function withoutOthersWork(object: KubeObject): object {
  const copy = JSON.parse(JSON.stringify(object)) as Fields;
  for (const path of ofOthers[object.kind ?? ''] ?? []) {
    const [name = '', field] = path.split('.');
    if (field === undefined) delete copy[name];
    else delete copy[name]?.[field];
  }
  return copy;
}

function decoded(row: Recorded): KubeObject {
  const { apiVersion = '', kind = '' } = row.answer;
  const gvk = { ...parseApiVersion(apiVersion), kind };
  const struct = findGoKind(gvk);
  assert.ok(struct, kind);
  const object = asObject(
    conform({ ...JSON.parse(JSON.stringify(row.object)), apiVersion, kind }, struct, gvk).value,
  );
  object.metadata.uid = 'UID';
  object.metadata.creationTimestamp = 'NOW';
  if (row.path.includes('/namespaces/')) object.metadata.namespace = 'default';
  if (kind !== 'Node') delete object['status'];
  return object;
}

function made(row: Recorded): KubeObject {
  const object = decoded(row);
  const gvk = { ...parseApiVersion(object.apiVersion ?? ''), kind: object.kind ?? '' };
  const rules = kindRulesOf(gvk.group, gvk.kind);
  rules.prepareForCreate?.(object);
  if (rules.tracksGeneration) object.metadata.generation = 1;
  rules.applyDefaults?.(object);
  const once = structuredClone(object);
  rules.applyDefaults?.(object);
  assert.deepEqual(object, once, 'defaults are idempotent');
  const conversion = conversionOf(gvk);
  const kept = conversion ? conversion.fromStorage(conversion.toStorage(object)) : object;
  if (conversion) assert.deepEqual(kept, once, 'conversion loses nothing');
  delete kept.metadata.uid;
  delete kept.metadata.creationTimestamp;
  return kept;
}

for (const [index, row] of recorded.entries()) {
  test(`fills in a ${row.answer.kind} as recorded (${index})`, () => {
    assert.deepEqual(withoutOthersWork(made(row)), withoutOthersWork(row.answer));
  });
}

for (const [index, row] of recorded.entries()) {
  const { group } = parseApiVersion(row.answer.apiVersion ?? '');
  test(`warns of a ${row.answer.kind} as recorded (${index})`, () => {
    const warnings = kindRulesOf(group, row.answer.kind ?? '').warnings?.(made(row), undefined) ?? [];
    assert.deepEqual(warnings, row.warnings ?? []);
  });
}
