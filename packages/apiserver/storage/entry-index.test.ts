import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Entry } from './entry.ts';
import { EntryIndex } from './entry-index.ts';

const bytes = Buffer.from('{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"1","name":"x"}}');
const place = fc.record({
  namespace: fc.constantFrom('', 'a', 'a-b', 'a.b', 'b'),
  name: fc.constantFrom('x', 'x-1', 'x.1', 'y', 'z'),
});
const step = fc.record({ isDelete: fc.boolean(), place });

function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

function inKeyOrder(places: readonly { namespace: string; name: string }[]): string[] {
  return places.map(({ namespace, name }) => `${namespace}/${name}`).sort((a, b) => (a < b ? -1 : 1));
}

describe('entry index', () => {
  it('keeps what a map would keep, in the order of store keys', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const index = new EntryIndex();
        const model = new Map<string, { namespace: string; name: string }>();
        for (const { isDelete, place: at } of steps) {
          if (isDelete) index.delete(at.namespace, at.name);
          else index.set(new Entry(at, 1, bytes));
          if (isDelete) model.delete(keyOf(at));
          else model.set(keyOf(at), at);
        }
        const seen = [...index.entries()].map(({ namespace, name }) => `${namespace}/${name}`);
        assert.deepEqual(seen, inKeyOrder([...model.values()]));
        assert.deepEqual(
          index.all().map(({ namespace, name }) => `${namespace}/${name}`),
          seen,
        );
        assert.equal(index.size, model.size);
      }),
    );
  });

  it('goes on after a place, whether or not it is still there', () => {
    const index = new EntryIndex();
    for (const [namespace, name] of [
      ['a', 'x'],
      ['a', 'z'],
      ['a-b', 'y'],
      ['b', 'x'],
    ] as const)
      index.set(new Entry({ namespace, name }, 1, bytes));
    const after = (namespace: string, name: string): string[] =>
      [...index.entries(undefined, { namespace, name })].map((entry) => `${entry.namespace}/${entry.name}`);
    // `a-b/` sorts before `a/`.
    assert.deepEqual(after('a-b', 'y'), ['a/x', 'a/z', 'b/x']);
    assert.deepEqual(after('a', 'x'), ['a/z', 'b/x']);
    assert.deepEqual(after('a', 'y'), ['a/z', 'b/x']);
    assert.deepEqual(after('aa', ''), ['b/x']);
  });
});
