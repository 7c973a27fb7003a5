import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '@sheaf/base';
import fc from 'fast-check';
import { compileColumns, compileSelectableFields } from './columns.ts';
import { certificateObject } from './definitions.fixture.ts';
import { compileJsonPath, evaluateJsonPath, JsonPathError } from './json-path.ts';

const object: JsonValue = {
  a: { b: [1, 2, 3, { c: 'x' }], d: 's', e: null, 'f.g': 5 },
  conds: [{ type: 'Ready', status: 'True', n: 1 }, { type: 'Other', status: 'False', n: 2.5 }, { type: 'Z' }],
  m: { k: { v: 1 } },
};

const cases: readonly (readonly [string, readonly JsonValue[]])[] = [
  ['.a.d', ['s']],
  ["$.a['d']", ['s']],
  ['.a.f\\.g', [5]],
  ['.a.b[0]', [1]],
  ['.a.b[-1]', [{ c: 'x' }]],
  ['.a.b[9]', []],
  ['.a.b[1:3]', [2, 3]],
  ['.a.b[::2]', [1, 3]],
  ['.a.b[0,2]', [1, 3]],
  ['.conds[*].type', ['Ready', 'Other', 'Z']],
  ['.conds[-1:].type', ['Z']],
  ['.conds[?(@.type=="Ready")].status', ['True']],
  ['.conds[?(@.status!="True")].type', ['Other']],
  ['.conds[?(@.n)].type', ['Ready', 'Other']],
  ['.m.*.v', [1]],
  ['..c', ['x']],
  ['.a.e', [null]],
  ['.a.e.f', []],
  ['.constructor', []],
  ['.__proto__', []],
  ['word', []],
];

for (const [path, expected] of cases) {
  test(`JSONPath ${path}`, () => {
    assert.deepEqual(evaluateJsonPath(path, object), expected);
  });
}

test('paths that cannot be read', () => {
  for (const path of ['.a[', '.a["d"]', '.a[x]', '.conds[?(@.a', '.a{b', '....a', '.'.repeat(5000)]) {
    assert.throws(() => compileJsonPath(path), JsonPathError, path);
  }
});

test('any path is read or refused, and evaluates', () => {
  const pieces = fc.constantFrom(
    '.',
    '..',
    'a',
    'b',
    '[',
    ']',
    '0',
    '*',
    ':',
    '-',
    ',',
    '?(',
    '@',
    ')',
    '==',
    '"',
    "'",
    '\\',
    '$',
    ' ',
    'x',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 25 }), (parts) => {
      try {
        evaluateJsonPath(parts.join(''), object);
      } catch (error) {
        assert.ok(error instanceof JsonPathError);
      }
    }),
    { numRuns: 600 },
  );
});

test('results are bounded', () => {
  const wide = { a: Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => ({ v: 1 }))) };
  assert.ok(evaluateJsonPath('..v', wide).length <= 10_000);
  assert.ok(evaluateJsonPath('.a[*][*].v', wide).length <= 10_000);
});

test('printer columns', () => {
  const columns = compileColumns([
    {
      name: 'Ready',
      type: 'string',
      format: '',
      description: '',
      priority: 0,
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    },
    { name: 'Rev', type: 'integer', format: '', description: 'd', priority: 1, jsonPath: '.status.revision' },
    { name: 'Key', type: 'string', format: '', description: '', priority: 0, jsonPath: '.spec.privateKey' },
    { name: 'Bad', type: 'integer', format: '', description: '', priority: 0, jsonPath: '.spec.secretName' },
    {
      name: 'Age',
      type: 'date',
      format: '',
      description: '',
      priority: 0,
      jsonPath: '.metadata.creationTimestamp',
    },
    { name: 'No', type: 'string', format: '', description: '', priority: 0, jsonPath: '.no' },
  ]);
  assert.deepEqual(
    columns.map((column) => column.cell(certificateObject)),
    ['True', 1, '{"algorithm":"ECDSA","size":256}', null, { milliseconds: Date.UTC(2026, 0, 1) }, null],
  );
  assert.equal(
    columns[0]?.description,
    'Custom resource definition column (in JSONPath format): .status.conditions[?(@.type=="Ready")].status',
  );
  assert.equal(columns[1]?.description, 'd');
});

test('selectable fields', () => {
  const select = compileSelectableFields(['.spec.secretName', '.spec.isCA', '.spec.none']);
  assert.deepEqual(select(certificateObject), {
    'spec.secretName': 'web-tls',
    'spec.isCA': 'false',
    'spec.none': '',
  });
});
