import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type JsonObject, type JsonValue, jsonClone, jsonEqual } from './json.ts';
import { isWithinDepth } from './json-fields.ts';
import { applyMergePatch, createMergePatch } from './merge-patch.ts';

/** The examples of RFC 7396, but for nulls in objects within lists, which the API server drops. */
const examples: [string, string, string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{}', '{"a":[{"b":null,"c":1},null]}', '{"a":[{"c":1},null]}'],
  ['{"a":{}}', '{"a":[{"b":null}]}', '{"a":[{"b":null}]}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}', '{"__proto__":{"a":1,"b":2}}'],
  ['{}', '{"constructor":{"a":1}}', '{"constructor":{"a":1}}'],
];

describe('applyMergePatch', () => {
  for (const [document, patch, expected] of examples) {
    it(`${document} with ${patch}`, () => {
      assert.equal(
        JSON.stringify(applyMergePatch(JSON.parse(document) as JsonValue, JSON.parse(patch) as JsonValue)),
        expected,
      );
    });
  }

  it('leaves its inputs alone and shares what stays', () => {
    const document = { a: { x: 1 }, b: { y: { z: 1 } } };
    const before = jsonClone(document);
    const merged = applyMergePatch(document, { b: { y: { w: 2 } } }) as typeof document;
    assert.deepEqual(document, before);
    assert.equal(merged.a, document.a);
  });

  it('refuses endless nesting', () => {
    let patch: JsonValue = 1;
    for (let depth = 0; depth < 100_000; depth++) patch = { a: patch };
    assert.equal(isWithinDepth(patch), false);
    assert.throws(() => applyMergePatch({}, patch), { code: 400 });
  });
});

describe('createMergePatch', () => {
  it('turns one object into the other', () => {
    const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
    const object = fc.dictionary(fc.string(), value).map((made) => applyMergePatch({}, made) as JsonObject);
    fc.assert(
      fc.property(object, object, (from, to) => {
        const patch = createMergePatch(from, to);
        // A list that takes the place of an object may carry nulls, all else cannot.
        assert.ok(jsonEqual(applyMergePatch(from, patch), to));
      }),
    );
  });
});
