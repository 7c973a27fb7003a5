import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid } from './field-error.ts';

test('values shown as JSON have their markup escaped, texts are quoted as they are', () => {
  assert.equal(
    invalid('a', { Rule: 'self > 1 && <b>' }, 'no').message,
    'Invalid value: {"Rule":"self \\u003e 1 \\u0026\\u0026 \\u003cb\\u003e"}: no',
  );
  assert.equal(invalid('a', 'self > 1', 'no').message, 'Invalid value: "self > 1": no');
  assert.equal(invalid('a', 3, 'no').message, 'Invalid value: 3: no');
});
