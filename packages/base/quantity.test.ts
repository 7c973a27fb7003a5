import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  QuantitySyntaxError,
  quantityAsBigInt,
  quantityAsInteger,
  quantityAsNumber,
  quantitySign,
  subtractQuantities,
} from './quantity.ts';

test('writes quantities canonically', () => {
  const cases: Record<string, string> = {
    '0.5': '500m',
    '1024Mi': '1Gi',
    '1.5Gi': '1536Mi',
    '0.5Gi': '512Mi',
    '1024': '1024',
    '1000k': '1M',
    '0.1m': '100u',
    '1e-20': '1e-9',
    '0.1n': '1n',
    '1.500': '1.500',
    '9999999999999999999Ki': '9223372036854775807',
    '1.1Ki': '1126400m',
    '-0.1Ki': '-102400m',
    '12e6': '12e6',
    '00': '0',
    '123456789012345678901234n': '123456789012345678901234n',
  };
  for (const text in cases) assert.equal(canonicalQuantity(text), cases[text], text);
});

test('keeps the value where no suffix is large enough', () => {
  assert.equal(canonicalQuantity('1000E'), '1000E');
});

test('refuses other texts', () => {
  for (const text of ['', 'x', '1Zi', '1 Gi', '1e', 'E-1024', '1..5', '9'.repeat(300)]) {
    assert.throws(() => parseQuantity(text), QuantitySyntaxError, text);
  }
});

test('adds, subtracts and compares exactly', () => {
  const sum = addQuantities(parseQuantity('1Gi'), parseQuantity('512Mi'));
  assert.equal(formatQuantity(sum), '1536Mi');
  assert.equal(formatQuantity(addQuantities(parseQuantity('0'), parseQuantity('1Gi'))), '1Gi');
  assert.equal(formatQuantity(subtractQuantities(parseQuantity('1'), parseQuantity('250m'))), '750m');
  assert.equal(compareQuantities(parseQuantity('1000m'), parseQuantity('1')), 0);
  assert.equal(compareQuantities(parseQuantity('1Ki'), parseQuantity('1k')), 1);
  assert.equal(quantitySign(parseQuantity('-1m')), -1);
});

test('converts to numbers', () => {
  assert.equal(quantityAsBigInt(parseQuantity('1500m')), 2n);
  assert.equal(quantityAsBigInt(parseQuantity('-1500m')), -2n);
  assert.equal(quantityAsBigInt(parseQuantity('1500m'), -3), 1500n);
  assert.equal(quantityAsInteger(parseQuantity('1500m')), undefined);
  assert.equal(quantityAsInteger(parseQuantity('2Ki')), 2048n);
  assert.equal(quantityAsNumber(parseQuantity('2500m')), 2.5);
});

test('stays quick with absurd exponents', () => {
  const huge = parseQuantity('1e999999999');
  const tiny = parseQuantity('1e-999999999');
  assert.equal(compareQuantities(huge, tiny), 1);
  assert.equal(formatQuantity(addQuantities(huge, tiny)).length < 10_000, true);
  assert.equal(quantityAsNumber(huge), Number.POSITIVE_INFINITY);
  assert.equal(quantityAsInteger(huge), undefined);
});

const amounts = fc
  .tuple(
    fc.integer({ min: -1_000_000, max: 1_000_000 }),
    fc.integer({ min: 0, max: 999 }),
    fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi', 'Gi', 'e3'),
  )
  .map(([whole, fraction, suffix]) => `${whole}.${fraction}${suffix}`);

test('the canonical text means the same and is a fixed point', () => {
  const check = fc.property(amounts, (text) => {
    const canonical = canonicalQuantity(text);
    assert.equal(compareQuantities(parseQuantity(canonical), parseQuantity(text)), 0);
    // A binary amount that is no whole number of Ki is written in bytes, and so is a decimal one when it is read again.
    const isPlain = text.endsWith('i') && /^-?\d+$/.test(canonical);
    const settled = isPlain ? canonicalQuantity(canonical) : canonical;
    assert.equal(compareQuantities(parseQuantity(settled), parseQuantity(text)), 0);
    assert.equal(canonicalQuantity(settled), settled);
  });
  fc.assert(check, { numRuns: 300, examples: [['219812.5Ki']] });
});

test('subtraction undoes addition', () => {
  const check = fc.property(amounts, amounts, (a, b) => {
    const [x, y] = [parseQuantity(a), parseQuantity(b)];
    assert.equal(compareQuantities(subtractQuantities(addQuantities(x, y), y), x), 0);
  });
  fc.assert(check, { numRuns: 200 });
});

test('any text is a quantity or a syntax error', () => {
  const check = fc.property(
    fc.string({ unit: fc.constantFrom(...'0159.+-eEinumkKMGTP'.split('')) }),
    (text) => {
      try {
        canonicalQuantity(text);
      } catch (error) {
        assert.ok(error instanceof QuantitySyntaxError);
      }
    },
  );
  fc.assert(check, { numRuns: 500 });
});
