import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FieldSchema, ObjectSchema, TypeSchema } from '@sheaf/api';
import { type JsonObject, type JsonValue, jsonClone, StatusError } from '@sheaf/base';
import fc from 'fast-check';
import { strategicMergePatch } from './index.ts';

const string: TypeSchema = { type: 'scalar', format: 'string', nullable: false };
const map: TypeSchema = { type: 'map', values: string, isAtomic: false, nullable: false };

function field(schema: TypeSchema, strategy = '', mergeKey?: string): FieldSchema {
  return { schema, patchStrategies: strategy === '' ? [] : strategy.split(','), patchMergeKey: mergeKey };
}

function struct(fields: Record<string, FieldSchema>): ObjectSchema {
  return {
    type: 'object',
    fields: new Map(Object.entries(fields)),
    preserveUnknown: false,
    isAtomic: false,
    isEmbeddedResource: false,
    nullable: false,
  };
}

function list(items: TypeSchema): TypeSchema {
  return { type: 'list', items, listType: 'atomic', mapKeys: [], nullable: false };
}

const item = struct({
  name: field(string),
  value: field(string),
  env: field(list(struct({ name: field(string), value: field(string) })), 'merge', 'name'),
  args: field(list(string)),
});
const schema = struct({
  items: field(list(item), 'merge', 'name'),
  volumes: field(
    list(struct({ name: field(string), a: field(map), b: field(map) })),
    'merge,retainKeys',
    'name',
  ),
  finalizers: field(list(string), 'merge'),
  args: field(list(string)),
  tolerations: field(list(item)),
  keyless: field(list(item), 'merge'),
  labels: field(map),
  strategy: field(struct({ type: field(string), rolling: field(map) }), 'retainKeys'),
  replaced: field(map, 'replace'),
});

const named = (...names: string[]) => names.map((name) => ({ name }));
const order = (name: string, ...names: string[]) => ({ [`$setElementOrder/${name}`]: named(...names) });

const merged: [string, JsonObject, JsonObject, JsonObject][] = [
  [
    'sets, adds and deletes fields',
    { labels: { a: '1', b: '2' } },
    { labels: { a: '9', b: null, c: '3' } },
    { labels: { a: '9', c: '3' } },
  ],
  ['a null that meets nothing', {}, { labels: { a: null, b: '1' }, args: null }, { labels: { b: '1' } }],
  ['a scalar list is replaced', { args: ['a', 'b'] }, { args: ['c'] }, { args: ['c'] }],
  [
    'a list of maps without strategy is replaced',
    { tolerations: named('a') },
    { tolerations: named('b') },
    { tolerations: named('b') },
  ],
  [
    'items merge by key',
    { items: [{ name: 'a', value: '1' }, { name: 'b' }] },
    { items: [{ name: 'a', args: ['x'] }] },
    { items: [{ name: 'a', value: '1', args: ['x'] }, { name: 'b' }] },
  ],
  [
    'new items come first where they have no place',
    { items: named('a', 'b') },
    { items: named('c') },
    { items: named('c', 'a', 'b') },
  ],
  [
    'items keep the patch order',
    { items: named('a', 'b', 'c') },
    { items: named('c', 'a') },
    { items: named('b', 'c', 'a') },
  ],
  [
    'inner lists merge too',
    { items: [{ name: 'a', env: [{ name: 'X', value: '1' }] }] },
    { items: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] },
    {
      items: [
        {
          name: 'a',
          env: [
            { name: 'Y', value: '2' },
            { name: 'X', value: '1' },
          ],
        },
      ],
    },
  ],
  [
    'an item is deleted',
    { items: named('a', 'b') },
    { items: [{ name: 'a', $patch: 'delete' }] },
    { items: named('b') },
  ],
  [
    'a missing item is deleted',
    { items: named('a') },
    { items: [{ name: 'z', $patch: 'delete' }] },
    { items: named('a') },
  ],
  [
    'all items of a key are deleted',
    { items: named('a', 'a', 'b') },
    { items: [{ name: 'a', $patch: 'delete' }] },
    { items: named('b') },
  ],
  [
    'a list is replaced',
    { items: named('a', 'b') },
    { items: [{ $patch: 'replace' }, ...named('c')] },
    { items: named('c') },
  ],
  ['a list is emptied', { items: named('a', 'b') }, { items: [{ $patch: 'replace' }] }, { items: [] }],
  [
    'a map is replaced',
    { labels: { a: '1' } },
    { labels: { $patch: 'replace', b: '2' } },
    { labels: { b: '2' } },
  ],
  ['a map is emptied', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
  [
    'the document is replaced',
    { args: ['a'] },
    { $patch: 'replace', labels: { b: '2' } },
    { labels: { b: '2' } },
  ],
  ['a map by its strategy', { replaced: { a: '1' } }, { replaced: { b: '1' } }, { replaced: { b: '1' } }],
  [
    'directives in what is new vanish',
    {},
    { labels: { $patch: 'delete' }, items: [{ name: 'a', $patch: 'delete' }, { name: 'b' }] },
    { items: named('b') },
  ],
  [
    'finalizers are a set',
    { finalizers: ['a', 'b'] },
    { finalizers: ['b', 'c'] },
    { finalizers: ['a', 'b', 'c'] },
  ],
  [
    'scalars are deleted',
    { finalizers: ['a', 'b'] },
    { '$deleteFromPrimitiveList/finalizers': ['a', 'z'] },
    { finalizers: ['b'] },
  ],
  [
    'scalars are deleted from a list of any strategy',
    { args: ['a', 'b'] },
    { '$deleteFromPrimitiveList/args': ['a'] },
    { args: ['b'] },
  ],
  ['scalars are deleted from nothing', {}, { '$deleteFromPrimitiveList/finalizers': ['a'] }, {}],
  [
    'scalars are added, deleted and put in order',
    { finalizers: ['a', 'b'] },
    {
      finalizers: ['c'],
      '$deleteFromPrimitiveList/finalizers': ['a'],
      '$setElementOrder/finalizers': ['c', 'b'],
    },
    { finalizers: ['c', 'b'] },
  ],
  [
    'items are put in order',
    { items: named('a', 'b', 'c') },
    order('items', 'c', 'b', 'a'),
    { items: named('c', 'b', 'a') },
  ],
  [
    'live items stay between',
    { items: named('a', 'x', 'b') },
    { ...order('items', 'b', 'a', 'n'), items: named('n') },
    { items: named('x', 'b', 'a', 'n') },
  ],
  ['an order for an absent list', {}, order('items', 'a'), {}],
  [
    'an order and a new list',
    {},
    { ...order('items', 'b', 'a'), items: named('b', 'a') },
    { items: named('b', 'a') },
  ],
  [
    'an order and a deletion',
    { items: named('a', 'b') },
    { ...order('items', 'b'), items: [{ name: 'a', $patch: 'delete' }] },
    { items: named('b') },
  ],
  [
    'retained keys',
    { strategy: { type: 'RollingUpdate', rolling: { a: '1' } } },
    { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    { strategy: { type: 'Recreate' } },
  ],
  [
    'retained keys in an item',
    { volumes: [{ name: 'v', a: { x: '1' } }] },
    { volumes: [{ name: 'v', $retainKeys: ['name', 'b'], b: { y: '1' } }] },
    { volumes: [{ name: 'v', b: { y: '1' } }] },
  ],
  [
    'retained keys and a null',
    { strategy: { type: 'a', rolling: { x: '1' } } },
    { strategy: { $retainKeys: ['type'], type: 'b', rolling: null } },
    { strategy: { type: 'b' } },
  ],
  ['a change of type', { labels: 'text' }, { labels: { a: '1' } }, { labels: { a: '1' } }],
  [
    'unknown fields merge as plain JSON',
    { zork: { a: { b: 1 } } },
    { zork: { a: { c: 2 }, l: [1] } },
    { zork: { a: { b: 1, c: 2 }, l: [1] } },
  ],
  ['empty lists', { items: [] }, { items: [] }, { items: [] }],
  ['a list that takes nothing away', { items: named('a') }, { items: [] }, { items: named('a') }],
];

const refused: [string, JsonObject, JsonObject, number, RegExp][] = [
  [
    'an item without its key',
    { items: named('a') },
    { items: [{ value: '1' }] },
    400,
    /^map: map\[value:1\] does not contain declared merge key: name$/,
  ],
  [
    'a live item without its key',
    { items: [{ value: '1' }] },
    { items: named('a') },
    400,
    /does not contain declared merge key: name/,
  ],
  [
    'an unknown directive',
    { labels: { a: '1' } },
    { labels: { $patch: 'zork', a: '1' } },
    400,
    /^unknown patch type: zork in map: map\[\$patch:zork a:1\]$/,
  ],
  [
    'an unknown directive in an item',
    { items: named('a') },
    { items: [{ name: 'a', $patch: 'zork' }] },
    400,
    /^unknown patch type: zork/,
  ],
  [
    'merge in an item',
    { items: named('a') },
    { items: [{ name: 'a', $patch: 'merge' }] },
    400,
    /^merging lists cannot yet be specified in the patch$/,
  ],
  [
    'retained keys that are no list',
    { strategy: { type: 'a' } },
    { strategy: { $retainKeys: 'type', type: 'b' } },
    400,
    /^invalid patch format of retainKeys$/,
  ],
  [
    'a set key that is not retained',
    { strategy: { type: 'a' } },
    { strategy: { $retainKeys: ['rolling'], type: 'b' } },
    400,
    /^invalid patch format of retainKeys$/,
  ],
  [
    'a deletion without a name',
    { finalizers: ['a'] },
    { $deleteFromPrimitiveList: ['a'] },
    400,
    /^invalid patch format of primitive list$/,
  ],
  [
    'an order without a name',
    { finalizers: ['a'] },
    { $setElementOrder: ['a'] },
    400,
    /^invalid patch format of setElementOrder list$/,
  ],
  [
    'an order that is no list',
    { finalizers: ['a'] },
    { '$setElementOrder/finalizers': 'a' },
    400,
    /^expected a \[\]interface \{\}, but received a string$/,
  ],
  [
    'an order that the patch does not follow',
    { items: named('a', 'b') },
    { ...order('items', 'a', 'b'), items: named('b', 'a') },
    400,
    /^The order in patch list:\n\[map\[name:b\] map\[name:a\]\]\n doesn't match \$setElementOrder list:/,
  ],
  [
    'mixed items',
    { finalizers: ['a'] },
    { finalizers: [{ name: 'a' }] },
    400,
    /^list element types are not identical/,
  ],
  ['null items', { finalizers: ['a'] }, { finalizers: [null] }, 400, /^list element types are not identical/],
  [
    'maps without a merge key',
    { keyless: named('a') },
    { keyless: named('b') },
    400,
    /^cannot merge lists without merge key/,
  ],
  [
    'lists of lists',
    { finalizers: [['a']] },
    { finalizers: [['b']] },
    422,
    /^the server rejected our request due to an error in our request$/,
  ],
];

describe('strategicMergePatch', () => {
  for (const [name, document, patch, expected] of merged) {
    it(name, () => {
      const [before, sent] = [jsonClone(document), jsonClone(patch)];
      assert.deepEqual(strategicMergePatch(document, patch, schema), expected);
      assert.deepEqual([document, patch], [before, sent]);
    });
  }

  for (const [name, document, patch, code, message] of refused) {
    it(`refuses: ${name}`, () => {
      assert.throws(() => strategicMergePatch(document, patch, schema), { code, message });
    });
  }

  it('refuses endless nesting', () => {
    let patch: JsonValue = {};
    for (let depth = 0; depth < 50_000; depth++) patch = { a: patch };
    assert.throws(() => strategicMergePatch({}, { labels: patch }, schema), { code: 400 });
  });

  it('never throws anything but a StatusError', () => {
    const key = fc.constantFrom(
      'items',
      'volumes',
      'finalizers',
      'keyless',
      'labels',
      'strategy',
      'name',
      'env',
      '$patch',
      '$retainKeys',
      '$setElementOrder/items',
      '$setElementOrder/finalizers',
      '$deleteFromPrimitiveList/finalizers',
      '$deleteFromPrimitiveList/items',
      '__proto__',
      'constructor',
    );
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('a', 'name', 'delete', 'replace', 'merge', null, 1),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value')),
      ),
    })).value;
    const object = fc.dictionary(key, tree) as fc.Arbitrary<JsonObject>;
    const check = fc.property(object, object, (document, patch) => {
      try {
        strategicMergePatch(document, patch, schema);
      } catch (error) {
        assert.ok(StatusError.is(error), String(error));
      }
    });
    fc.assert(check, { numRuns: 300 });
  });
});
