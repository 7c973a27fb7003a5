import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import type { JsonObject, JsonValue } from '@sheaf/base';
import * as fc from 'fast-check';
import { createEnvironment } from './environment.ts';
import { compileExpression, perCallLimit } from './expression.ts';
import { declareType } from './schema/declared-type.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    s: { type: 'string' },
    list: { type: 'array', items: { type: 'string' } },
    objects: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, v: { type: 'integer' } } },
    },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    any: { 'x-kubernetes-int-or-string': true },
  },
};
const declared = declareType(schema, true)!;
const environment = createEnvironment({ variables: { self: declared.type } });

function run(source: string, value: JsonValue): { cost: number; message: string | undefined } {
  const { compiled, error } = compileExpression(source, environment);
  if (!compiled) return { cost: 0, message: error };
  const outcome = compiled.run([declared.adapt(value)]);
  return { cost: outcome.cost, message: outcome.ok ? undefined : outcome.message };
}

const pieces = [
  'self',
  '.',
  'n',
  's',
  'list',
  'objects',
  'map',
  'any',
  'x',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  '?',
  ':',
  '+',
  '-',
  '*',
  '/',
  '%',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '&&',
  '||',
  '!',
  'in',
  '1',
  '0',
  '-1',
  '9223372036854775807',
  '1.5',
  '2u',
  '"a"',
  "'b'",
  'b"c"',
  'r"\\d"',
  'true',
  'false',
  'null',
  '.all(x, ',
  '.exists(x, ',
  '.map(x, ',
  '.filter(x, ',
  '.size()',
  '.matches(',
  'has(',
  'self.s',
  'self.n',
  'self.list',
  'self.map',
  'self.objects',
  'self.any',
  'dyn(',
  'string(',
  'int(',
  'duration(',
  'timestamp(',
  '.split(',
  '.join(',
  '.format([',
  'quantity(',
  'ip(',
  'cidr(',
  'url(',
  'semver(',
  'optional.of(',
  '.orValue(',
  '.?',
  '[?',
  '{?',
  'lists.range(',
  '.sort()',
  '.flatten()',
  '\n',
  '//',
  '"',
  "'''",
  '\\',
  '\u{1f600}',
  '@',
  '`',
  ' ',
  'namespace',
  '__proto__',
  'constructor',
];

const value: JsonObject = {
  n: 3,
  s: 'some text',
  list: ['a', 'b'],
  objects: [{ name: 'x', v: 1 }],
  map: { a: 'b' },
  any: '5%',
};

test('any text either is refused or gives a result', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 25 }), (parts) => {
      const { cost } = run(parts.join(''), value);
      assert.ok(cost <= perCallLimit * 2);
    }),
    { numRuns: 1000, seed: 7 },
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 60, unit: 'binary' }), (source) => void run(source, value)),
    { numRuns: 500, seed: 7 },
  );
});

const seeds = [
  "self.list.all(x, x.matches('^a') || self.map.exists(k, self.map[k] == x))",
  'self.objects.filter(o, has(o.v) && o.v > 1).map(o, o.name).join("-").size() < 10 ? self.n : -self.n',
  '{"a": [1, 2, {"b": optional.of(self.n)}]}["a"][0] in [1, 2] && "%s-%d".format([self.s, self.n]) != ""',
  'timestamp("2020-01-01T00:00:00Z") + duration("1h") > timestamp(0) && quantity("1Gi").isGreaterThan(quantity("5"))',
];

test('changed expressions never throw', () => {
  const mutation = fc.record({
    seed: fc.constantFrom(...seeds),
    cuts: fc.array(fc.tuple(fc.nat(120), fc.nat(4), fc.constantFrom('', ...pieces)), {
      minLength: 1,
      maxLength: 4,
    }),
  });
  fc.assert(
    fc.property(mutation, ({ seed, cuts }) => {
      const source = cuts.reduce(
        (text, [at, length, put]) => text.slice(0, at) + put + text.slice(at + length),
        seed,
      );
      run(source, value);
    }),
    { numRuns: 1000, seed: 7 },
  );
});

test('data that does not fit its schema never throws', () => {
  const compiled = seeds.map((source) => compileExpression(source, environment).compiled);
  const anything = fc.dictionary(
    fc.constantFrom('n', 's', 'list', 'objects', 'map', 'any'),
    fc.jsonValue({ maxDepth: 3 }),
  );
  fc.assert(
    fc.property(anything, (data) => {
      for (const expression of compiled) expression?.run([declared.adapt(data)]);
    }),
    { numRuns: 200, seed: 7 },
  );
});

test('deep and long sources are refused, not followed', () => {
  const deep = [
    '('.repeat(5000) + '1' + ')'.repeat(5000),
    '['.repeat(5000),
    `${'!'.repeat(50_000)}true`,
    `${'-'.repeat(50_000)}1`,
    Array.from({ length: 30_000 }, () => '1').join('+'),
    `self${'.a'.repeat(30_000)}`,
    'a ? '.repeat(5000),
    `"${'x'.repeat(200_000)}"`,
    '{"a":'.repeat(3000),
  ];
  for (const source of deep) assert.doesNotThrow(() => run(source, value));
  assert.equal(run(Array.from({ length: 10_000 }, () => 'true').join(' && '), value).message, undefined);
});

test('names of JavaScript are ordinary names', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.match(run(`self.${name}`, value).message ?? '', /undefined field/);
    assert.equal(run(`"${name}" in self.map`, value).message, undefined);
    assert.match(run(`self.map["${name}"] == "a"`, value).message ?? '', /no such key/);
    assert.match(run(`${name}(1)`, value).message ?? '', /undeclared reference/);
    assert.match(run(`"a".${name}()`, value).message ?? '', /undeclared reference/);
    assert.match(run(`${name}`, value).message ?? '', /undeclared reference/);
    assert.match(run(`{"a": 1}.${name}`, value).message ?? '', /no such key/);
  }
});
