import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type JsonValue, jsonClone, jsonEqual } from './json.ts';
import { createJsonPatch } from './json-diff.ts';
import {
  applyJsonPatch,
  JsonPatchError,
  type JsonPatchOperation,
  maxJsonPatchOperations,
} from './json-patch.ts';

const document: JsonValue = { a: { b: [1, 2, 3] }, c: null, 'x/y': 1, 'm~n': 2 };

const applied: [string, JsonPatchOperation[], JsonValue][] = [
  ['add a field', [{ op: 'add', path: '/d', value: 1 }], { ...document, d: 1 }],
  ['add over a field', [{ op: 'add', path: '/a', value: 1 }], { ...document, a: 1 }],
  ['insert', [{ op: 'add', path: '/a/b/1', value: 9 }], { ...document, a: { b: [1, 9, 2, 3] } }],
  ['append', [{ op: 'add', path: '/a/b/-', value: 9 }], { ...document, a: { b: [1, 2, 3, 9] } }],
  [
    'add at the end by index',
    [{ op: 'add', path: '/a/b/3', value: 9 }],
    { ...document, a: { b: [1, 2, 3, 9] } },
  ],
  ['add from the end', [{ op: 'add', path: '/a/b/-1', value: 9 }], { ...document, a: { b: [1, 2, 3, 9] } }],
  ['remove an item', [{ op: 'remove', path: '/a/b/0' }], { ...document, a: { b: [2, 3] } }],
  ['remove from the end', [{ op: 'remove', path: '/a/b/-1' }], { ...document, a: { b: [1, 2] } }],
  ['replace an item', [{ op: 'replace', path: '/a/b/-3', value: 0 }], { ...document, a: { b: [0, 2, 3] } }],
  ['replace what is missing adds', [{ op: 'replace', path: '/new', value: 1 }], { ...document, new: 1 }],
  ['replace all', [{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
  [
    'escapes',
    [
      { op: 'replace', path: '/x~1y', value: 5 },
      { op: 'remove', path: '/m~0n' },
    ],
    { a: { b: [1, 2, 3] }, c: null, 'x/y': 5 },
  ],
  ['move', [{ op: 'move', from: '/a/b/0', path: '/first' }], { ...document, a: { b: [2, 3] }, first: 1 }],
  ['copy', [{ op: 'copy', from: '/a/b', path: '/b' }], { ...document, b: [1, 2, 3] }],
  ['copy of what is missing', [{ op: 'copy', from: '/nope', path: '/b' }], { ...document, b: null }],
  [
    'a copy is not shared',
    [
      { op: 'copy', from: '/a', path: '/z' },
      { op: 'add', path: '/z/b/-', value: 4 },
    ],
    { ...document, z: { b: [1, 2, 3, 4] } },
  ],
  [
    'tests',
    [
      { op: 'test', path: '/a', value: { b: [1, 2, 3] } },
      { op: 'test', path: '/c', value: null },
      { op: 'test', path: '/nope' },
      { op: 'test', path: '', value: document },
    ],
    document,
  ],
  ['add without value', [{ op: 'add', path: '/n' }], { ...document, n: null }],
  ['what stands before the slash', [{ op: 'add', path: 'zork/n', value: 1 }], { ...document, n: 1 }],
];

const refused: [string, JsonValue, number][] = [
  ['not a list', { op: 'add' }, 400],
  ['an operation that is a number', [5], 400],
  ['op that is a number', [{ op: 1, path: '/a' }], 400],
  ['path that is a list', [{ op: 'add', path: [], value: 1 }], 400],
  ['an unknown operation', [{ op: 'zork', path: '/a' }], 422],
  ['no operation', [{ path: '/a' }], 422],
  ['null', [null], 422],
  ['no path', [{ op: 'add', value: 1 }], 422],
  ['remove of what is missing', [{ op: 'remove', path: '/nope' }], 422],
  ['remove of everything', [{ op: 'remove', path: '' }], 422],
  ['add below what is missing', [{ op: 'add', path: '/nope/x', value: 1 }], 422],
  ['add below a scalar', [{ op: 'add', path: '/a/b/0/x', value: 1 }], 422],
  ['index beyond the end', [{ op: 'add', path: '/a/b/4', value: 1 }], 422],
  ['index before the beginning', [{ op: 'replace', path: '/a/b/-4', value: 1 }], 422],
  ['index that is none', [{ op: 'add', path: '/a/b/x', value: 1 }], 422],
  ['remove of the place after the end', [{ op: 'remove', path: '/a/b/-' }], 422],
  ['move of what is missing', [{ op: 'move', from: '/nope', path: '/a' }], 422],
  ['move into itself', [{ op: 'move', from: '/a', path: '/a/z' }], 422],
  ['test', [{ op: 'test', path: '/a', value: 1 }], 422],
  ['test against null', [{ op: 'test', path: '/a', value: null }], 422],
  ['all replaced by a scalar', [{ op: 'replace', path: '', value: 1 }], 422],
];

function codeOf(patch: JsonValue, target: JsonValue = document): number {
  try {
    applyJsonPatch(target, patch);
  } catch (error) {
    assert.ok(error instanceof JsonPatchError, String(error));
    return error.code;
  }
  return 200;
}

describe('applyJsonPatch', () => {
  for (const [name, patch, expected] of applied) {
    it(name, () => {
      const before = jsonClone(document);
      assert.deepEqual(applyJsonPatch(document, patch), expected);
      assert.deepEqual(document, before);
    });
  }
  for (const [name, patch, code] of refused) it(`refuses: ${name}`, () => assert.equal(codeOf(patch), code));

  it('refuses too many operations', () => {
    const operation = { op: 'test', path: '/c', value: null };
    assert.equal(codeOf(Array.from({ length: maxJsonPatchOperations }, () => operation)), 200);
    assert.equal(codeOf(Array.from({ length: maxJsonPatchOperations + 1 }, () => operation)), 413);
  });

  it('stops copies that grow without end', () => {
    const doubling = Array.from({ length: 40 }, (_, index) => ({
      op: 'copy',
      from: '/l',
      path: `/l/${index}`,
    }));
    assert.equal(codeOf(doubling, { l: [0] }), 422);
  });

  it('stops nesting without end', () => {
    const nest = Array.from({ length: 2000 }, () => [
      { op: 'add', path: '/n', value: {} },
      { op: 'move', from: '/a', path: '/n/a' },
      { op: 'move', from: '/n', path: '/a' },
    ]);
    assert.equal(codeOf(nest.flat()), 422);
  });

  it('stops shifting a long list over and over', () => {
    const l = Array.from({ length: 200_000 }, () => 0);
    assert.equal(
      codeOf(
        Array.from({ length: 9000 }, () => ({ op: 'add', path: '/l/0', value: 1 })),
        { l },
      ),
      422,
    );
  });

  it('treats __proto__ and constructor as any other name', () => {
    const patch = JSON.parse(
      '[{"op":"add","path":"/__proto__","value":{"polluted":1}},{"op":"add","path":"/constructor/x","value":1}]',
    ) as JsonValue[];
    const result = applyJsonPatch({}, [patch[0]!]);
    assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":1}}');
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.equal(codeOf([patch[1]!]), 422);
  });

  it('throws nothing else, whatever it gets', () => {
    const operation = fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'zork'),
        path: fc.oneof(
          fc.constantFrom('', '/', '/a', '/a/b/0', '/a/b/-', '/a/b/-1', '/c/d', 'x', '/a/b/1/z'),
          fc.string(),
        ),
        from: fc.constantFrom('', '/a', '/a/b', '/a/b/1', '/c', '/nope'),
        value: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(operation), fc.jsonValue()), (patch) => {
        codeOf(patch);
      }),
    );
  });
});

describe('createJsonPatch', () => {
  it('names what changed', () => {
    assert.deepEqual(
      createJsonPatch({ a: 1, l: [1, 2, 3], o: { x: 1 } }, { l: [1, 3], o: { x: 1, 'y/z': 2 } }),
      [
        { op: 'remove', path: '/a' },
        { op: 'remove', path: '/l/1' },
        { op: 'add', path: '/o/y~1z', value: 2 },
      ],
    );
  });

  it('turns any value into any other of its kind', () => {
    const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.dictionary(fc.string(), value), (from, to) => {
        assert.ok(jsonEqual(applyJsonPatch(from, createJsonPatch(from, to)), to));
      }),
    );
  });
});
