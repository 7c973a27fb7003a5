import assert from 'node:assert/strict';
import { test } from 'node:test';
import { select, stages } from './stages.ts';

function names(words: readonly string[]): string[] {
  return select(words).stages.map((stage) => stage.name);
}

test('no argument selects every stage, a name one, a group several, always in their order', () => {
  assert.deepEqual(
    names([]),
    stages.map((stage) => stage.name),
  );
  assert.deepEqual(names(['unit']), ['unit']);
  assert.deepEqual(names(['unit', 'check']), ['types', 'lint', 'format', 'dead-code', 'structure', 'unit']);
});

test('a part of a path limits the test files, and leaves out the checks', () => {
  assert.deepEqual(select(['./packages/store/']).paths, ['packages/store/']);
  assert.deepEqual(names(['packages/store/']), ['unit', 'integration', 'scenario', 'e2e']);
  assert.deepEqual(names(['unit', 'packages/store/']), ['unit']);
});

test('an unknown word is refused with the words there are', () => {
  assert.throws(() => select(['unti']), /no stage is called "unti"; there are check, tests, types/);
});
