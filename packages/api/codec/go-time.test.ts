import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalMicroTime, canonicalTime, parseRfc3339, TimeSyntaxError } from './go-time.ts';

test('writes times in UTC with their own precision', () => {
  assert.equal(canonicalTime('2020-01-01T01:00:00.999+02:00'), '2019-12-31T23:00:00Z');
  assert.equal(canonicalTime('2024-02-29T00:00:00Z'), '2024-02-29T00:00:00Z');
  assert.equal(canonicalTime('0001-01-01T00:00:00Z'), null);
  assert.equal(canonicalMicroTime('2020-01-01T00:00:00.000001+00:00'), '2020-01-01T00:00:00.000001Z');
});

test('refuses what is no time in words of Go', () => {
  assert.throws(() => canonicalTime('yesterday'), {
    message: 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  });
  assert.throws(() => canonicalTime('2023-02-29T00:00:00Z'), {
    message: 'parsing time "2023-02-29T00:00:00Z": day out of range',
  });
});

test('agrees with the runtime on every second', () => {
  const dates = fc.date({
    min: new Date('0002-01-01T00:00:00Z'),
    max: new Date('9999-12-31T00:00:00Z'),
    noInvalidDate: true,
  });
  const check = fc.property(dates, (date) => {
    const text = `${date.toISOString().slice(0, 19)}Z`;
    assert.equal(canonicalTime(text), text);
    assert.equal(parseRfc3339(text).seconds, Math.floor(date.getTime() / 1000));
  });
  fc.assert(check, { numRuns: 200 });
});

test('any text is a time or a syntax error', () => {
  const check = fc.property(fc.string({ unit: fc.constantFrom(...'0123456789-:TZ+.'.split('')) }), (text) => {
    try {
      canonicalTime(text);
    } catch (error) {
      assert.ok(error instanceof TimeSyntaxError);
    }
  });
  fc.assert(check, { numRuns: 300 });
});
