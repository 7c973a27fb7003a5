import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { createEnvironment } from './environment.ts';
import { compileExpression } from './expression.ts';
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

const many = Array.from({ length: 20_000 }, (_, index) => `item-${index}`);
const large: JsonObject = {
  n: 1,
  s: 'a'.repeat(1_000_000),
  list: many,
  objects: many.map((name, v) => ({ name, v })),
  map: Object.fromEntries(many.map((name) => [name, name])),
};

/** Expressions that would run for minutes or need gigabytes if nothing stopped them. */
const attacks = [
  'self.list.all(x, self.list.all(y, self.list.all(z, x != "")))',
  'self.list.all(x, self.objects == self.objects)',
  'self.list.all(x, self.map == self.map)',
  'self.list.all(x, self.s.size() > 0)',
  'self.list.all(x, self.s.matches("(a+)+$"))',
  'self.list.all(x, self.s.find("a*a*a*b") == "")',
  'self.list.map(x, self.list + self.list).all(l, l.size() > 0)',
  'self.list.map(x, self.s + self.s).size() > 0',
  'self.list.map(x, self.s.replace("a", "bbbbbbbbbbbbbbbbbbbbbbbb")).size() > 0',
  'self.list.map(x, self.s.split("")).size() > 0',
  'self.list.all(x, self.map.exists(k, true))',
  'self.list.all(x, self.objects.exists(o, o.none_of_this == 1) || true)',
  'self.list.all(x, self.map["none"] == "1" || true)',
  'self.list.distinct().size() > 0',
  'self.objects.sortBy(o, -o.v).size() > 0',
  'self.list.all(x, "%s".format([self.list]) != "")',
  'self.list.all(x, x in self.list)',
  'sets.contains(self.list, self.list)',
  'self.list.all(x, self.objects.indexOf(self.objects[0]) == 0)',
  'lists.range(9223372036854775807).size() > 0',
  'lists.range(900000).map(x, lists.range(900000)).size() > 0',
  'self.list.all(x, self.s == self.s + "")',
  'self.list.all(x, self.s.charAt(5) == "a")',
  'self.list.all(x, url("https://a/" + self.s).getHost() == "a")',
  'self.list.all(x, format.dns1123Subdomain().validate(self.s).hasValue())',
  'self.list.all(x, [[self.list]].flatten(2).size() > 0)',
  'self.list.all(x, duration(self.s) == duration("1s") || true)',
  'self.list.all(x, quantity(self.s) == quantity("1") || true)',
];

test('attacks end soon', () => {
  for (const source of attacks) {
    const started = process.hrtime.bigint();
    compileExpression(source, environment).compiled?.run([declared.adapt(large)]);
    const millis = Number(process.hrtime.bigint() - started) / 1e6;
    assert.ok(millis < 20_000, `${source} took ${millis} ms`);
  }
});
