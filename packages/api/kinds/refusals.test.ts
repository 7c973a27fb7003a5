import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { builtinResources, findGoKind } from '../builtin/kinds.ts';
import { conform } from '../codec/conform.ts';
import { asObject } from '../meta/object.ts';
import { kindRulesOf } from './rules.ts';

interface Refused {
  readonly path: string;
  readonly object: object;
  readonly causes: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
}

const file = new URL('fixtures/refused.json', import.meta.url);
const recorded: readonly Refused[] = JSON.parse(readFileSync(file, 'utf8'));
/** Kinds with rules for names beyond the syntax. */
const namesItself = new Set(['CronJob', 'IPAddress', 'PriorityClass', 'APIService']);
const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function kindAt(path: string) {
  const parts = path.split('/');
  const [group = '', version = ''] = parts[1] === 'api' ? ['', parts[2]] : [parts[2], parts[3]];
  const plural = parts.at(-1);
  const found = builtinResources.find(
    (item) => item.group === group && item.version === version && item.resource === plural,
  );
  assert.ok(found, path);
  return found;
}

function causesOf(row: Refused): string[] {
  const resource = kindAt(row.path);
  const struct = findGoKind(resource);
  assert.ok(struct);
  const { group, version, kind } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const object = asObject(
    conform({ ...JSON.parse(JSON.stringify(row.object)), apiVersion, kind }, struct, resource).value,
  );
  const rules = kindRulesOf(group, kind);
  object.metadata.uid = 'UID';
  object.metadata.creationTimestamp = '2026-01-01T00:00:00Z';
  if (resource.namespaced) object.metadata.namespace = 'default';
  rules.prepareForCreate?.(object);
  rules.applyDefaults?.(object);
  return (rules.validateCreate?.(object) ?? []).map(
    ({ type, field, message }) => `${field}: ${type}: ${message}`,
  );
}

for (const [index, row] of recorded.entries()) {
  test(`refuses a ${kindAt(row.path).kind} as recorded (${index})`, () => {
    const wanted = row.causes.filter(
      ({ field }) => field !== 'metadata.name' || namesItself.has(kindAt(row.path).kind),
    );
    const expected = wanted.map(
      ({ field, reason, message }) => `${field}: ${reason}: ${message.replace(uuid, 'UID')}`,
    );
    // Upstream walks maps in no order.
    const isUnordered = wanted.some(({ field }) =>
      /(\.resources\.limits|\.hard|^overhead\.limits)\b/.test(field),
    );
    const actual = causesOf(row);
    assert.deepEqual(isUnordered ? actual.sort() : actual, isUnordered ? expected.sort() : expected);
  });
}
