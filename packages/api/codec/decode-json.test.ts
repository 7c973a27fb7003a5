import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@sheaf/base';
import fc from 'fast-check';
import { decodeJson, maxJsonDepth } from './decode-json.ts';

function decode(text: string): { value: unknown; duplicateFields: readonly string[] } {
  return decodeJson(Buffer.from(text));
}

function refusal(text: string): string {
  try {
    decode(text);
  } catch (error) {
    assert.ok(StatusError.is(error, 'BadRequest'));
    return error.message.replace("couldn't get version/kind; json parse error: ", '');
  }
  return '';
}

test('names repeated fields and lets the last one win', () => {
  const text = '{"metadata":{"labels":{"a":"1","a":"2"}},"spec":[{"b":1},{"b":1,"b":2}]}';
  assert.deepEqual(decode(text), {
    value: { metadata: { labels: { a: '2' } }, spec: [{ b: 1 }, { b: 2 }] },
    duplicateFields: ['duplicate field "metadata.labels.a"', 'duplicate field "spec[1].b"'],
  });
});

test('finds repeated fields that hide behind blanks, escapes and quotes', () => {
  assert.deepEqual(decode('{"a" :1,"a":2}').duplicateFields, ['duplicate field "a"']);
  assert.deepEqual(decode('{"a":1,"\\u0061":2}').duplicateFields, ['duplicate field "a"']);
  assert.deepEqual(decode('{"x\\\\":1,"x\\\\":2}').duplicateFields, ['duplicate field "x\\\\"']);
  assert.deepEqual(decode('{"a":"\\"b\\":","c":["\\\\\\":",":"]}').duplicateFields, []);
  assert.deepEqual(decode('{"a"\n:1,"b":":","a":":"}').duplicateFields, ['duplicate field "a"']);
});

test('refuses malformed text in words of Go', () => {
  const cases: Record<string, string> = {
    '': 'unexpected end of JSON input',
    '{"a":1,}': "invalid character '}' looking for beginning of object key string",
    '{"a":1 "b"}': `invalid character '"' after object key:value pair`,
    '{"a" 1}': "invalid character '1' after object key",
    '[1 2]': "invalid character '2' after array element",
    '{}x': "invalid character 'x' after top-level value",
    tru: "invalid character ' ' in literal true (expecting 'e')",
    '"\\x"': "invalid character 'x' in string escape code",
    '"\n"': "invalid character '\\n' in string literal",
    '01': "invalid character '1' after top-level value",
    '1.': "invalid character ' ' after decimal point in numeric literal",
    é: "invalid character 'Ã' looking for beginning of value",
    '\ufeff{}': "invalid character 'ï' looking for beginning of value",
  };
  for (const text in cases) assert.equal(refusal(text), cases[text], JSON.stringify(text));
});

test('shows the beginning of the body where the kind is known', () => {
  assert.throws(
    () => decodeJson(Buffer.from('{"kind":"ConfigMap","data":{"a":"b"},'), { kind: 'ConfigMap' }),
    {
      message:
        'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"kind":"ConfigMap","data":{"a ...)',
    },
  );
});

test('bounds the depth', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(refusal(nested(maxJsonDepth)), '');
  assert.equal(refusal(nested(maxJsonDepth + 1)), 'exceeded max depth');
  assert.equal(refusal('{"a":'.repeat(200_000)), 'exceeded max depth');
  assert.equal(refusal(nested(200_000)), 'exceeded max depth');
});

test('replaces invalid UTF-8 and halves of pairs', () => {
  assert.deepEqual(decodeJson(Uint8Array.from([0x22, 0xff, 0x22])).value, '\ufffd');
  assert.deepEqual(decode('["\\ud800","\\\\ud800","\\ud83d\\ude00"]').value, ['\ufffd', '\\ud800', '😀']);
});

test('reads the same as the runtime, without false duplicates', () => {
  const spaces = fc.constantFrom(undefined, 2, '\t');
  const check = fc.property(fc.jsonValue({ maxDepth: 4 }), spaces, (value, space) => {
    const text = JSON.stringify(value, undefined, space);
    const decoded = decode(text);
    assert.equal(
      JSON.stringify(decoded.value),
      JSON.stringify(JSON.parse(text)).replace(/\\ud[89a-f][0-9a-f]{2}/g, '\ufffd'),
    );
    assert.deepEqual(decoded.duplicateFields, []);
  });
  fc.assert(check, { numRuns: 200 });
});

test('refuses exactly what the runtime refuses', () => {
  const check = fc.property(
    fc.jsonValue({ maxDepth: 3 }),
    fc.nat(),
    fc.constantFrom(...'{}[]":,x1\\ '.split('')),
    (value, at, char) => {
      const text = JSON.stringify(value);
      const place = at % (text.length + 1);
      const broken = text.slice(0, place) + char + text.slice(place + 1);
      let isValid = true;
      try {
        JSON.parse(broken);
      } catch {
        isValid = false;
      }
      const message = refusal(broken);
      assert.equal(message === '', isValid, broken);
      if (!isValid) assert.match(message, /^(invalid character|unexpected end of JSON input)/);
    },
  );
  fc.assert(check, { numRuns: 500 });
});
