import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@sheaf/base';
import fc from 'fast-check';
import { decodeYaml, maxYamlBytes } from './decode-yaml.ts';

function decode(text: string): { value: unknown; duplicateFields: readonly string[] } {
  return decodeYaml(Buffer.from(text));
}

test('reads scalars as YAML 1.1 in Go', () => {
  const text = [
    'booleans: [yes, no, on, off, True, "yes"]',
    'numbers: [0777, 0o17, 0x1F, 0b11, 1_000, .5, 1e3, +1, 1.0, 08]',
    'texts: [1:30, 190:20:30, 2001-01-01]',
    'nothing: [~, null, ]',
    'binary: !!binary aGVsbG8=',
    'tagged: !!str 123',
  ].join('\n');
  assert.deepEqual(decode(text).value, {
    booleans: [true, false, true, false, true, 'yes'],
    numbers: [511, 15, 31, 3, 1000, 0.5, 1000, 1, 1, 8],
    texts: ['1:30', '190:20:30', '2001-01-01'],
    nothing: [null, null],
    binary: 'hello',
    tagged: '123',
  });
});

test('turns keys into text, follows aliases and merges', () => {
  const text = '1: a\ntrue: b\nbase: &x {b: 1}\ncopy: *x\nmerged:\n  <<: *x\n  e: 2\n';
  assert.deepEqual(decode(text).value, {
    1: 'a',
    true: 'b',
    base: { b: 1 },
    copy: { b: 1 },
    merged: { b: 1, e: 2 },
  });
});

test('names repeated keys with their lines', () => {
  assert.deepEqual(decode('a: 1\na: 2\nb:\n  c: 1\n  c: 3\n').duplicateFields, [
    'yaml: unmarshal errors:\n  line 2: key "a" already set in map\n  line 5: key "c" already set in map',
  ]);
});

test('reads JSON as JSON, and the first of several documents', () => {
  assert.deepEqual(decode('\n{"a": 1, "a": 2}').duplicateFields, ['duplicate field "a"']);
  assert.deepEqual(decode('{a: 1, b: [x, z,]}').value, { a: 1, b: ['x', 'z'] });
  assert.deepEqual(decode('---\na: 1\n---\nb: 2').value, { a: 1 });
  assert.equal(decode('').value, null);
});

test('leaves a last line without break as it is', () => {
  assert.deepEqual(decode('a: |\n  x\nb: >\n  y').value, { a: 'x\n', b: 'y' });
});

test('refuses bombs, depth, size and malformed text', () => {
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (const [index, name] of 'bcdefgh'.split('').entries()) {
    const before = 'abcdefg'[index];
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]`);
  }
  const bad = [
    bomb.join('\n'),
    '['.repeat(20_000),
    `a: ${'x'.repeat(maxYamlBytes)}`,
    'a: [1',
    'a: b: c',
    'a: .inf',
    '\tx: @',
  ];
  for (const text of bad) {
    assert.throws(
      () => decode(text),
      (error) => StatusError.is(error, 'BadRequest'),
      text.slice(0, 40),
    );
  }
});

test('any text is YAML or a bad request', () => {
  const unit = fc.constantFrom(...'ab:-[]{}&*!|>"\'#\n 01.,?%@\t'.split(''), '<<', ': ', '- ');
  const check = fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
    try {
      JSON.stringify(decode(text));
    } catch (error) {
      assert.ok(StatusError.is(error, 'BadRequest'), String(error));
    }
  });
  fc.assert(check, { numRuns: 300 });
});
