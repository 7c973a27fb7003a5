import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { KubeObject } from '../meta/object.ts';
import { parseApiVersion } from '../meta/object.ts';
import { kindRulesOf } from './rules.ts';

interface Changed {
  readonly old: KubeObject;
  readonly next: KubeObject;
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
}

const file = new URL('fixtures/changed.json', import.meta.url);
const recorded: readonly Changed[] = JSON.parse(readFileSync(file, 'utf8'));

/** Where upstream prints a Go difference, the fields are named here. */
function firstLine(message: string): string {
  return message.split('\n')[0] ?? '';
}

function causesOf({ old, next }: Changed): string[] {
  const { group } = parseApiVersion(old.apiVersion ?? '');
  const rules = kindRulesOf(group, old.kind ?? '');
  const given = structuredClone(next);
  rules.prepareForUpdate?.(given, old);
  rules.applyDefaults?.(given);
  const errors = rules.validateUpdate?.(given, old) ?? [];
  return errors.map(({ type, field, message }) => `${field}: ${type}: ${firstLine(message)}`);
}

for (const [index, row] of recorded.entries()) {
  const outcome = row.causes === undefined ? 'accepts' : 'refuses';
  test(`${outcome} the change of a ${row.old.kind} as recorded (${index})`, () => {
    const wanted = (row.causes ?? []).map(
      ({ field, reason, message }) => `${field}: ${reason}: ${firstLine(message)}`,
    );
    assert.deepEqual(causesOf(row), wanted);
  });
}
