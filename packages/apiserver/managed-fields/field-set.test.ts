import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue } from '@sheaf/base';
import fc from 'fast-check';
import {
  compareElements,
  type FieldPath,
  FieldsFormatError,
  printPath,
  quote,
  sortElements,
} from './field-path.ts';
import {
  difference,
  emptySet,
  type FieldSet,
  fieldsNamed,
  hasPath,
  intersection,
  isEmptySet,
  leavesOf,
  pathsOf,
  recursiveDifference,
  setOf,
  union,
} from './field-set.ts';
import { parseFieldsV1 } from './fields-v1.ts';

const element = fc.oneof(
  fc.constantFrom(
    'f:a',
    'f:b',
    'f:c',
    'k:{"name":"x"}',
    'k:{"port":80,"protocol":"TCP"}',
    'v:1',
    'v:"s"',
    'v:true',
    'i:0',
    'i:12',
  ),
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });
const set = paths.map((list) => setOf(...list));
const keyOf = (item: FieldPath) => item.join('\n');
const members = (value: FieldSet) => pathsOf(value).map(keyOf).sort();
const text = (value: JsonValue) => JSON.stringify(value);

describe('field sets', () => {
  it('hold what was put into them', () => {
    fc.assert(
      fc.property(paths, path, (list, other) => {
        const made = setOf(...list);
        const wanted = new Set(list.map(keyOf));
        assert.deepEqual(members(made), [...wanted].sort());
        assert.equal(hasPath(made, other), wanted.has(keyOf(other)));
      }),
    );
  });

  it('are joined, cut and taken from each other as sets are', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [left, right] = [new Set(members(a)), new Set(members(b))];
        assert.deepEqual(members(union(a, b)), [...left.union(right)].sort());
        assert.deepEqual(members(intersection(a, b)), [...left.intersection(right)].sort());
        assert.deepEqual(members(difference(a, b)), [...left.difference(right)].sort());
      }),
    );
  });

  it('stay canonical under every operation', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        for (const made of [
          union(a, b),
          intersection(a, b),
          difference(a, b),
          recursiveDifference(a, b),
          leavesOf(a),
        ]) {
          assert.equal(text(made), text(setOf(...pathsOf(made))));
        }
      }),
    );
  });

  it('answer the same set when nothing changes', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        assert.equal(union(a, intersection(a, b)), a);
        const rest = difference(a, b);
        assert.equal(difference(rest, b), rest);
        assert.equal(union(a, emptySet), a);
        assert.equal(difference(a, emptySet), a);
        assert.ok(isEmptySet(difference(a, a)));
      }),
    );
  });

  it('take away subtrees', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const gone = pathsOf(b).map(keyOf);
        const kept = members(a).filter(
          (item) => !gone.some((other) => item === other || item.startsWith(`${other}\n`)),
        );
        assert.deepEqual(members(recursiveDifference(a, b)), kept);
      }),
    );
  });

  it('know their leaves', () => {
    const tree = setOf(['f:a'], ['f:a', 'f:b'], ['f:c']);
    assert.deepEqual(pathsOf(leavesOf(tree)), [['f:c'], ['f:a', 'f:b']]);
    assert.deepEqual(fieldsNamed('metadata.labels', 'spec'), {
      'f:metadata': { 'f:labels': {} },
      'f:spec': {},
    });
  });
});

describe('FieldsV1', () => {
  it('is read as it is when canonical', () => {
    fc.assert(
      fc.property(set, (made) => {
        const json = JSON.parse(text(made)) as JsonValue;
        assert.equal(parseFieldsV1(json), json);
      }),
    );
  });

  it('is put right in any order', () => {
    const shuffle = (value: FieldSet): FieldSet =>
      Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, child]) => [key, shuffle(child)]),
      );
    fc.assert(
      fc.property(set, (made) => {
        assert.equal(text(parseFieldsV1(shuffle(made))), text(made));
      }),
    );
  });

  it('is put right in other spellings', () => {
    const odd = {
      'k:{"b":1,"a":"x"}': { 'f:q': {} },
      'k:{"a":"x","b":1}': { '.': {} },
      'v:1.0': {},
      'v:"<"': {},
      'f:only': { '.': {} },
      'x:future': { 'f:a': {} },
      'f:dropped': { 'x:future': {} },
      '.': {},
    };
    assert.equal(
      text(parseFieldsV1(odd)),
      text({
        'f:dropped': {},
        'f:only': {},
        'k:{"a":"x","b":1}': { '.': {}, 'f:q': {} },
        'v:1': {},
        'v:"\\u003c"': {},
      }),
    );
  });

  for (const wrong of [
    'a',
    5,
    [],
    { a: {} },
    { 'f:a': 5 },
    { 'f:a': null },
    { 'k:x': {} },
    { 'k:[]': {} },
    { 'k:{"a":{}}': {} },
    { 'v:[1]': {} },
    { 'v:': {} },
    { 'i:x': {} },
    { '': {} },
  ]) {
    it(`is refused: ${JSON.stringify(wrong)}`, () => {
      assert.throws(() => parseFieldsV1(wrong), FieldsFormatError);
    });
  }

  it('is refused when nested without end', () => {
    let json: JsonValue = {};
    for (let depth = 0; depth < 50_000; depth++) json = { 'f:a': json };
    assert.throws(() => parseFieldsV1(json), FieldsFormatError);
    assert.throws(() => parseFieldsV1({ [`v:${'['.repeat(50_000)}`]: {} }), FieldsFormatError);
  });

  it('throws nothing else, whatever it gets', () => {
    const key = fc.oneof(
      element,
      fc.string(),
      fc.string().map((tail) => `k:${tail}`),
      fc.jsonValue().map((value) => `v:${JSON.stringify(value)}`),
    );
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.constant({}),
        fc.dictionary(key, tie('node')),
        fc.jsonValue(),
      ),
    })).node;
    fc.assert(
      fc.property(tree, (json) => {
        try {
          const read = parseFieldsV1(json as JsonValue);
          assert.equal(parseFieldsV1(read), read);
        } catch (error) {
          assert.ok(error instanceof FieldsFormatError, String(error));
        }
      }),
    );
  });

  it('of many unsorted keys is read at once', () => {
    const json = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`v:${5_000 - index}`, {}]));
    const started = performance.now();
    assert.equal(Object.keys(parseFieldsV1(json))[0], 'v:1');
    assert.ok(performance.now() - started < 5000);
  });
});

describe('path elements', () => {
  it('are ordered: fields, keys, numbers, strings, booleans, null, indices', () => {
    const sorted = [
      'f:a',
      'f:b',
      'f:ｚ',
      'f:𝒳',
      'k:{"a":1}',
      'k:{"a":1,"b":1}',
      'k:{"a":"x"}',
      'k:{"b":1}',
      'v:-2',
      'v:1',
      'v:3',
      'v:20',
      'v:"a"',
      'v:"b"',
      'v:false',
      'v:true',
      'v:null',
      'i:2',
      'i:10',
    ];
    assert.deepEqual(sortElements(sorted.toReversed()), sorted);
    for (const [index, item] of sorted.entries()) {
      assert.equal(compareElements(item, item), 0);
      for (const later of sorted.slice(index + 1))
        assert.ok(compareElements(item, later) < 0, `${item} < ${later}`);
    }
  });

  it('escape like Go does', () => {
    assert.equal(quote('<a>&\u2028\b\f\\b"é'), '"\\u003ca\\u003e\\u0026\\u2028\\u0008\\u000c\\\\b\\"é"');
  });

  it('are printed for people', () => {
    assert.equal(
      printPath(['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}', 'f:name']),
      '.spec.ports[port=80,protocol="TCP"].name',
    );
    assert.equal(printPath(['f:metadata', 'f:finalizers', 'v:"a/b"']), '.metadata.finalizers[="a/b"]');
    assert.equal(printPath(['f:x', 'i:3']), '.x[3]');
  });
});
