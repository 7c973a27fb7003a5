import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldError, JsonSchema, ValidationRule } from '@sheaf/api';
import type { JsonValue } from '@sheaf/base';
import { compileSchemaRules } from './compile-rules.ts';
import { type RuleRequest, validateRules } from './validate-rules.ts';

const path = 'spec.validation.openAPIV3Schema';

/** A custom resource with one `spec`. */
function resource(spec: JsonSchema): JsonSchema {
  return { type: 'object', properties: { spec } };
}

function rule(source: string, rest: Omit<ValidationRule, 'rule'> = {}): ValidationRule {
  return { rule: source, ...rest };
}

function withRules(schema: JsonSchema, ...rules: readonly (string | ValidationRule)[]): JsonSchema {
  return {
    ...schema,
    'x-kubernetes-validations': rules.map((own) => (typeof own === 'string' ? rule(own) : own)),
  };
}

function compileErrors(spec: JsonSchema): string[] {
  return compileSchemaRules(resource(spec)).errors.map((error) => `${error.field}: ${error.message}`);
}

function run(spec: JsonSchema, request: RuleRequest): string[] {
  const { tree, errors } = compileSchemaRules(resource(spec));
  assert.deepEqual(errors, []);
  return tree ? validateRules(tree, request).map((error) => `${error.field}: ${error.message}`) : [];
}

function ofSpec(value: JsonValue, oldValue?: JsonValue): RuleRequest {
  return oldValue === undefined
    ? { value: { spec: value } }
    : { value: { spec: value }, oldValue: { spec: oldValue } };
}

const text: JsonSchema = { type: 'string' };
const integer: JsonSchema = { type: 'integer' };
const limits: JsonSchema = { type: 'object', properties: { min: integer, max: integer } };

test('a broken rule: message, message expression, default message, reason, field path', () => {
  const spec = withRules(
    limits,
    'self.min <= self.max',
    rule('self.min < 5', { message: ' too many ' }),
    rule('self.min < 5', { messageExpression: '"min is " + string(self.min)', message: 'unused' }),
    rule('self.min < 5', { messageExpression: '"a\\nb"', message: 'line breaks' }),
    rule('self.min < 5', { messageExpression: 'string(1 / (self.min - 9))', message: 'it failed' }),
    rule('self.min < 5', { reason: 'FieldValueForbidden', fieldPath: '.min' }),
    rule('self.min < 5', { reason: 'FieldValueRequired' }),
    rule('self.min < 5', { reason: 'FieldValueDuplicate' }),
  );
  assert.deepEqual(run(spec, ofSpec({ min: 9, max: 5 })), [
    'spec: Invalid value: failed rule: self.min <= self.max',
    'spec: Invalid value: too many',
    'spec: Invalid value: min is 9',
    'spec: Invalid value: line breaks',
    'spec: Invalid value: it failed',
    'spec.min: Forbidden: failed rule: self.min < 5',
    'spec: Required value: failed rule: self.min < 5',
    'spec: Duplicate value',
  ]);
  assert.deepEqual(run(spec, ofSpec({ min: 1, max: 5 })), []);
});

test('scalars are shown, and null is not validated', () => {
  const spec: JsonSchema = {
    type: 'object',
    properties: {
      a: withRules(text, 'self.size() < 3'),
      b: withRules({ ...integer, nullable: true }, 'self > 0'),
    },
  };
  assert.deepEqual(run(spec, ofSpec({ a: 'long', b: -1 })), [
    'spec.a: Invalid value: "long": failed rule: self.size() < 3',
    'spec.b: Invalid value: -1: failed rule: self > 0',
  ]);
  assert.deepEqual(run(spec, ofSpec({ b: null })), []);
});

test('errors of evaluation', () => {
  const spec = withRules(
    { type: 'object', properties: { ...limits.properties, any: { 'x-kubernetes-int-or-string': true } } },
    'self.min / self.max == 1',
    'self.any > 1',
  );
  assert.deepEqual(run(spec, ofSpec({ min: 1, max: 0, any: 'x' })), [
    'spec: Invalid value: "object": division by zero evaluating rule: self.min / self.max == 1',
    'spec: Invalid value: "object": \'no such overload\': call arguments did not match a supported operator, function or macro signature for rule: self.any > 1',
  ]);
  assert.deepEqual(run(spec, ofSpec({ min: 1 })), [
    'spec: Invalid value: "object": no such key: max evaluating rule: self.min / self.max == 1',
    'spec: Invalid value: "object": no such key: any evaluating rule: self.any > 1',
  ]);
});

test('transition rules run only with an old value', () => {
  const spec: JsonSchema = {
    type: 'object',
    properties: {
      a: withRules(text, rule('self == oldSelf', { message: 'immutable' })),
      b: withRules(integer, rule('oldSelf.orValue(0) <= self', { optionalOldSelf: true })),
    },
  };
  assert.deepEqual(run(spec, ofSpec({ a: 'x', b: -1 })), [
    'spec.b: Invalid value: -1: failed rule: oldSelf.orValue(0) <= self',
  ]);
  assert.deepEqual(run(spec, ofSpec({ a: 'x' }, { a: 'y' })), ['spec.a: Invalid value: "x": immutable']);
  assert.deepEqual(run(spec, ofSpec({ a: 'x' }, {})), []);
  assert.deepEqual(run(spec, ofSpec({ b: 5 }, { b: 7 })), [
    'spec.b: Invalid value: 5: failed rule: oldSelf.orValue(0) <= self',
  ]);
});

test('elements of keyed lists are compared with the old element of the same key', () => {
  const item = withRules(
    { type: 'object', properties: { name: text, size: integer } },
    'self.size >= oldSelf.size',
  );
  const list: JsonSchema = {
    type: 'array',
    maxItems: 10,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: item,
  };
  const old = [
    { name: 'a', size: 2 },
    { name: 'b', size: 2 },
  ];
  const value = [
    { name: 'b', size: 1 },
    { name: 'c', size: 0 },
    { name: 'a', size: 3 },
  ];
  assert.deepEqual(run(list, ofSpec(value, old)), [
    'spec[0]: Invalid value: failed rule: self.size >= oldSelf.size',
  ]);
  assert.deepEqual(compileErrors({ ...list, 'x-kubernetes-list-type': 'atomic' }), [
    `${path}.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: "self.size >= oldSelf.size": oldSelf cannot be used on the uncorrelatable portion of the schema within ${path}.properties[spec]`,
  ]);
});

test('maps, items, all-of and embedded resources', () => {
  const spec: JsonSchema = {
    type: 'object',
    properties: {
      labels: { type: 'object', maxProperties: 10, additionalProperties: withRules(text, "self != 'x'") },
      list: { type: 'array', maxItems: 10, items: withRules(integer, 'self > 0') },
      pod: withRules(
        {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        "self.kind == 'Pod' && self.metadata.name != ''",
      ),
      odd: integer,
    },
    allOf: [{ properties: { odd: { 'x-kubernetes-validations': [rule('self % 2 == 1')] } } }],
  };
  const value = {
    labels: { 'a.b': 'x', c: 'y' },
    list: [1, -1],
    pod: { kind: 'Job', metadata: { name: 'n' } },
    odd: 2,
  };
  assert.deepEqual(run(spec, ofSpec(value)), [
    'spec.odd: Invalid value: 2: failed rule: self % 2 == 1',
    'spec.labels[a.b]: Invalid value: "x": failed rule: self != \'x\'',
    'spec.list[1]: Invalid value: -1: failed rule: self > 0',
    "spec.pod: Invalid value: failed rule: self.kind == 'Pod' && self.metadata.name != ''",
  ]);
});

test('errors about parts that did not change become warnings', () => {
  const spec: JsonSchema = {
    type: 'object',
    properties: {
      a: withRules(integer, 'self > 0'),
      b: integer,
      list: { type: 'array', maxItems: 5, items: withRules(integer, 'self > 0') },
    },
  };
  const { tree } = compileSchemaRules(resource(spec));
  assert.ok(tree);
  const check = (value: JsonValue, oldValue: JsonValue): [string[], string[]] => {
    const warned: FieldError[] = [];
    const errors = validateRules(tree, { value, oldValue, warn: (error) => warned.push(error) });
    return [errors.map((error) => error.field), warned.map((error) => error.field)];
  };
  assert.deepEqual(check({ spec: { a: -1, b: 2 } }, { spec: { a: -1, b: 1 } }), [[], ['spec.a']]);
  assert.deepEqual(check({ spec: { a: -2 } }, { spec: { a: -1 } }), [['spec.a'], []]);
  assert.deepEqual(check({ spec: { b: 1, list: [-1] } }, { spec: { list: [-1] } }), [[], ['spec.list[0]']]);
  assert.deepEqual(check({ spec: { list: [-1, 5] } }, { spec: { list: [-1] } }), [['spec.list[0]'], []]);
});

test('what is wrong with a rule is reported with its place', () => {
  const shown = (source: string, rest = ''): string =>
    `{"Rule":${JSON.stringify(source)},"Message":"","MessageExpression":"${rest}","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;
  const at = `${path}.properties[spec].x-kubernetes-validations`;
  assert.deepEqual(
    compileErrors(
      withRules(
        limits,
        'self.mid == 1',
        'self.min',
        "int('x') == 1",
        rule('true', { messageExpression: '1' }),
      ),
    ),
    [
      `${at}[0].rule: Invalid value: ${shown('self.mid == 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'mid'\n | self.mid == 1\n | ....^`,
      `${at}[1].rule: Invalid value: ${shown('self.min')}: cel expression must evaluate to a bool`,
      `${at}[2].rule: Invalid value: ${shown("int('x') == 1")}: program instantiation failed: type conversion error from 'string' to 'int'`,
      `${at}[3].messageExpression: Invalid value: ${shown('true', '1')}: messageExpression must evaluate to a string`,
    ],
  );
  assert.deepEqual(
    compileErrors(
      withRules(
        limits,
        ' ',
        rule('true', { message: ' ' }),
        rule('true', { message: 'a\nb' }),
        'true &&\ntrue',
        rule('true', { fieldPath: '.none' }),
        rule('true', { optionalOldSelf: true }),
      ),
    ),
    [
      `${at}[0].rule: Required value: rule is not specified`,
      `${at}[1].message: Invalid value: " ": must be non-empty if specified`,
      `${at}[2].message: Invalid value: "a\\nb": must not contain line breaks`,
      `${at}[3].message: Required value: message must be specified if rule contains line breaks`,
      `${at}[4].fieldPath: Invalid value: ".none": must be a valid path`,
    ],
  );
  assert.deepEqual(compileErrors(withRules(limits, rule('true', { optionalOldSelf: true }))), [
    `${at}[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
  ]);
});

test('rules that upstream would find too dear are refused, others are not', () => {
  const list: JsonSchema = { type: 'array', items: text };
  const [first] = compileErrors(withRules(list, 'self.all(x, self.all(y, x == y))'));
  assert.match(
    first ?? '',
    /^spec.*Forbidden: estimated rule cost exceeds budget by factor of more than 100x \(try /,
  );
  assert.deepEqual(
    compileErrors(withRules({ ...list, maxItems: 50 }, 'self.all(x, self.all(y, x == y))')),
    [],
  );
  assert.deepEqual(compileErrors(withRules(list, "self.all(x, x != '')")), []);
});

test('the budget of an object', () => {
  const list = withRules(
    { type: 'array', maxItems: 2000, items: integer },
    'self.all(x, self.exists(y, y == x))',
  );
  const value = Array.from({ length: 2000 }, (_, index) => index);
  const [error, ...others] = run(list, ofSpec(value));
  assert.match(
    error ?? '',
    /'operation cancelled: actual cost limit exceeded': no further validation rules will be run/,
  );
  assert.deepEqual(others, []);
  const { tree } = compileSchemaRules(resource(withRules(limits, 'self.min > 0')));
  assert.ok(tree);
  const left = validateRules(tree, { value: { spec: { min: 1 } }, budget: { remaining: 2 } });
  assert.match(left[0]?.message ?? '', /validation failed due to running out of cost budget/);
});

test('field paths of rules', () => {
  const schema = withRules(
    { type: 'object', properties: { 'a.b': { type: 'object', additionalProperties: text }, c: limits } },
    rule('false', { fieldPath: '.c.min' }),
    rule('false', { fieldPath: "['a.b']['x']" }),
    rule('false', { fieldPath: ".c['max']" }),
  );
  assert.deepEqual(
    run(schema, ofSpec({})).map((line) => line.split(':')[0]),
    ['spec.c.min', 'spec.a.b[x]', 'spec.c.max'],
  );
});
