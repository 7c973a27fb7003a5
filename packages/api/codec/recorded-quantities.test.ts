import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { canonicalQuantity } from '@sheaf/base';

/** Above E upstream loses the exponent; here the value is kept. */
const departures = /^[+-]?\d+E$/;

test('reads quantities as recorded from Go', () => {
  const file = join(import.meta.dirname, 'fixtures', 'quantities.jsonl');
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [{ text }, expected] = JSON.parse(line) as [{ text: string }, { text?: string; error?: string }];
    let actual: { text?: string; error?: string };
    try {
      actual = { text: canonicalQuantity(text) };
    } catch (error) {
      actual = { error: (error as Error).message };
    }
    if (!departures.test(actual.text ?? '')) assert.deepEqual(actual, expected, text);
  }
});
