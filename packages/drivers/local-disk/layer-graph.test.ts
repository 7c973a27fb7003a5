import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chainOf, mergeablePairs, reachableFrom } from './layer-graph.ts';

/** image ← base ← snapshot ← top, and base ← clone. */
const graph = new Map<string, string | undefined>([
  ['image', undefined],
  ['base', 'image'],
  ['snapshot', 'base'],
  ['top', 'snapshot'],
  ['clone', 'base'],
  ['stray', undefined],
  ['orphan', 'gone'],
  ['a', 'b'],
  ['b', 'a'],
]);

test('layer graph: a chain ends at the bottom, at what is missing, and in a circle', () => {
  assert.deepEqual(chainOf(graph, 'top'), ['top', 'snapshot', 'base', 'image']);
  assert.deepEqual(chainOf(graph, 'orphan'), ['orphan']);
  assert.deepEqual(chainOf(graph, 'a'), ['a', 'b']);
  assert.deepEqual(chainOf(graph, 'gone'), []);
});

test('layer graph: what roots need is reached once', () => {
  assert.deepEqual(
    [...reachableFrom(graph, ['top', 'clone', 'gone'])],
    ['top', 'snapshot', 'base', 'image', 'clone'],
  );
});

test('layer graph: only what nothing needs for itself, and one other lies on, is merged', () => {
  const pairs = (...roots: string[]) => mergeablePairs(graph, new Set(roots));
  assert.deepEqual(pairs('top', 'clone', 'snapshot', 'image'), [], 'two lie on base');
  assert.deepEqual(pairs('top', 'clone', 'image'), [{ lower: 'snapshot', upper: 'top' }]);
  assert.deepEqual(pairs('image'), [], 'what lies on it is not wanted');
});
