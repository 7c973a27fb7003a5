import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '@sheaf/api';
import type { JsonObject, JsonValue } from '@sheaf/base';
import { compileSchema, findBlockingError } from './compile.ts';

function withSpec(property: JsonSchema): JsonSchema {
  return { type: 'object', properties: { spec: { type: 'object', properties: { x: property } } } };
}

function object(x: JsonValue): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { x } };
}

function errorsOf(property: JsonSchema, value: JsonValue): readonly string[] {
  const errors = compileSchema(withSpec(property)).validate(object(value));
  return errors.map((error) => `${error.type} ${error.field} ${error.message}`);
}

const T = 'FieldValueTypeInvalid spec.x';
const I = 'FieldValueInvalid spec.x';
const G = 'FieldValueInvalid <nil> Invalid value: "":';

/** Schema of `spec.x`, its value, and all errors, as a real API server words them. */
const cases: readonly (readonly [string, JsonSchema, JsonValue, readonly string[]])[] = [
  [
    'type',
    { type: 'integer' },
    's',
    [`${T} Invalid value: "string": spec.x in body must be of type integer: "string"`],
  ],
  [
    'type: a fraction is no integer',
    { type: 'integer' },
    1.5,
    [
      `${T} Invalid value: "number": spec.x in body must be of type integer: "number"`,
      `${G} Checked value must be of type integer (default format) in spec.x`,
    ],
  ],
  ['type: an integer is a number', { type: 'number' }, 1, []],
  [
    'type: null',
    { type: 'string' },
    null,
    [`${T} Invalid value: "null": spec.x in body must be of type string: "null"`],
  ],
  ['nullable', { type: 'string', nullable: true }, null, []],
  [
    'nullable with enum',
    { type: 'string', nullable: true, enum: ['a', 'b'] },
    null,
    ['FieldValueNotSupported spec.x Unsupported value: null: supported values: "a", "b"'],
  ],
  [
    'int-or-string',
    { 'x-kubernetes-int-or-string': true },
    1.5,
    [`${T} Invalid value: "number": spec.x in body must be of type integer,string: "number"`],
  ],
  [
    'enum',
    { type: 'string', enum: ['a', 'b'] },
    'c',
    ['FieldValueNotSupported spec.x Unsupported value: "c": supported values: "a", "b"'],
  ],
  [
    'enum of numbers',
    { type: 'integer', enum: [1, 2] },
    3,
    ['FieldValueNotSupported spec.x Unsupported value: 3: supported values: "1", "2"'],
  ],
  [
    'minimum',
    { type: 'integer', minimum: 0 },
    -1,
    [`${I} Invalid value: -1: spec.x in body should be greater than or equal to 0`],
  ],
  [
    'maximum',
    { type: 'integer', maximum: 10 },
    11,
    [`${I} Invalid value: 11: spec.x in body should be less than or equal to 10`],
  ],
  [
    'exclusiveMinimum',
    { type: 'integer', minimum: 0, exclusiveMinimum: true },
    0,
    [`${I} Invalid value: 0: spec.x in body should be greater than 0`],
  ],
  [
    'exclusiveMaximum',
    { type: 'integer', maximum: 3, exclusiveMaximum: true },
    3,
    [`${I} Invalid value: 3: spec.x in body should be less than 3`],
  ],
  [
    'maximum of floats',
    { type: 'number', maximum: 1_000_000 },
    1_000_000.5,
    [`${I} Invalid value: 1.0000005e+06: spec.x in body should be less than or equal to 1e+06`],
  ],
  [
    'multipleOf',
    { type: 'integer', multipleOf: 5 },
    7,
    [`${I} Invalid value: 7: spec.x in body should be a multiple of 5`],
  ],
  ['multipleOf a decimal', { type: 'number', multipleOf: 0.1 }, 0.3, []],
  ['multipleOf a decimal, whole', { type: 'number', multipleOf: 0.5 }, 3, []],
  [
    'multipleOf a decimal, failing',
    { type: 'number', multipleOf: 0.5 },
    1.3,
    [`${I} Invalid value: 1.3: spec.x in body should be a multiple of 0.5`],
  ],
  [
    'int32',
    { type: 'integer', format: 'int32' },
    3_000_000_000,
    [`${G} Checked value must be of type integer with format int32 in spec.x`],
  ],
  ['int64', { type: 'integer', format: 'int64' }, 3_000_000_000, []],
  [
    'float',
    { type: 'number', format: 'float' },
    1e39,
    [`${G} Checked value must be of type number with format float in spec.x`],
  ],
  ['double', { type: 'number', format: 'double' }, 1.5e300, []],
  [
    'minLength',
    { type: 'string', minLength: 2 },
    'é',
    [`${I} Invalid value: "é": spec.x in body should be at least 2 chars long`],
  ],
  ['maxLength counts code points', { type: 'string', maxLength: 2 }, '😀😀', []],
  [
    'maxLength',
    { type: 'string', maxLength: 1 },
    '😀😀',
    ['FieldValueTooLong spec.x Too long: may not be more than 1 byte'],
  ],
  ['pattern is not anchored', { type: 'string', pattern: 'b' }, 'abc', []],
  [
    'pattern',
    { type: 'string', pattern: '^a$' },
    'b"\n',
    [`${I} Invalid value: "b\\"\\n": spec.x in body should match '^a$'`],
  ],
  ['pattern in RE2 syntax', { type: 'string', pattern: '(?i)^ABC\\z' }, 'abc', []],
  [
    'minItems',
    { type: 'array', items: { type: 'string' }, minItems: 1 },
    [],
    [`${I} Invalid value: 0: spec.x in body should have at least 1 items`],
  ],
  [
    'maxItems',
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    ['a', 'b'],
    ['FieldValueTooMany spec.x Too many: 2: must have at most 1 item'],
  ],
  [
    'items',
    { type: 'array', items: { type: 'string' } },
    ['a', 1],
    [
      'FieldValueTypeInvalid spec.x[1] Invalid value: "integer": spec.x[1] in body must be of type string: "integer"',
    ],
  ],
  [
    'minProperties',
    { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1 },
    {},
    [`${I} Invalid value: 0: spec.x in body should have at least 1 properties`],
  ],
  [
    'maxProperties',
    { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
    { a: '', b: '' },
    ['FieldValueTooMany spec.x Too many: 2: must have at most 1 item'],
  ],
  [
    'additionalProperties',
    { type: 'object', additionalProperties: { type: 'integer' } },
    { a: 'b' },
    [
      'FieldValueTypeInvalid spec.x.a Invalid value: "string": spec.x.a in body must be of type integer: "string"',
    ],
  ],
  [
    'required',
    { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'string' } } },
    { b: '' },
    ['FieldValueRequired spec.x.a Required value'],
  ],
  [
    'required: inherited fields do not count',
    {
      type: 'object',
      required: ['constructor'],
      properties: { constructor: { type: 'string' } },
    },
    {},
    ['FieldValueRequired spec.x.constructor Required value'],
  ],
  [
    'anyOf tells the alternative that came closest',
    { type: 'string', anyOf: [{ format: 'ipv4' }, { pattern: '^z', minLength: 9 }] },
    'q',
    [
      `${G} "spec.x" must validate at least one schema (anyOf)`,
      `${T} Invalid value: "q": spec.x in body must be of type ipv4: "q"`,
    ],
  ],
  [
    'oneOf: none',
    { type: 'string', oneOf: [{ minLength: 9 }, { pattern: '^z' }] },
    'q',
    [
      `${G} "spec.x" must validate one and only one schema (oneOf). Found none valid`,
      `${I} Invalid value: "q": spec.x in body should be at least 9 chars long`,
    ],
  ],
  [
    'oneOf: several',
    { type: 'string', oneOf: [{ pattern: '^q' }, { pattern: 'q$' }] },
    'q',
    [`${G} "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives`],
  ],
  [
    'allOf',
    { type: 'string', allOf: [{ pattern: '^x' }, { pattern: 'q$' }] },
    'q',
    [
      `${I} Invalid value: "q": spec.x in body should match '^x'`,
      `${G} "spec.x" must validate all the schemas (allOf)`,
    ],
  ],
  [
    'allOf: none',
    { type: 'string', allOf: [{ pattern: '^x' }] },
    'q',
    [
      `${I} Invalid value: "q": spec.x in body should match '^x'`,
      `${G} "spec.x" must validate all the schemas (allOf). None validated`,
    ],
  ],
  [
    'not',
    { type: 'string', not: { pattern: 'q$' } },
    'q',
    [`${G} "spec.x" must not validate the schema (not)`],
  ],
  [
    'list-type set',
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    ['a', 'a', 'a'],
    ['FieldValueDuplicate spec.x[1] Duplicate value: "a"'],
  ],
  [
    'list-type map',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['n'],
      items: {
        type: 'object',
        required: ['n'],
        properties: { n: { type: 'string' }, v: { type: 'string' } },
      },
    },
    [
      { n: 'a<', v: '1' },
      { n: 'a<', v: '2' },
    ],
    ['FieldValueDuplicate spec.x[1] Duplicate value: {"n":"a\\u003c"}'],
  ],
  [
    'several at once',
    {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'integer', minimum: 1 } },
    },
    { b: 0 },
    [
      'FieldValueInvalid spec.x.b Invalid value: 0: spec.x.b in body should be greater than or equal to 1',
      'FieldValueRequired spec.x.a Required value',
    ],
  ],
  [
    'embedded resource',
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    { kind: 'x y', metadata: { name: '/' } },
    [
      'FieldValueRequired spec.x.apiVersion Required value',
      `FieldValueInvalid spec.x.kind Invalid value: "x y": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
      'FieldValueInvalid spec.x.metadata.name Invalid value: "/": may not contain \'/\'',
    ],
  ],
];

for (const [name, schema, value, expected] of cases) {
  test(`validate: ${name}`, () => {
    assert.deepEqual(errorsOf(schema, value), expected);
  });
}

const formats: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['date', ['2024-02-29'], ['2023-02-29', '2024-1-1', '']],
  [
    'date-time',
    ['2024-02-29T10:00:00Z', '2024-02-29t10:00:00.5+02:00'],
    ['2024-02-29', '2024-02-29T25:00:00Z', '2024-02-29T10:00:00'],
  ],
  ['duration', ['1h', '1.5h3m', '22 ns', '3 days', '0'], ['', 'x', '5']],
  ['byte', ['YWJj', 'YQ=='], ['', 'YW', 'Y===']],
  ['password', ['', 'x'], []],
  ['email', ['a@b.c', 'A <a@b.c>'], ['a', 'a@', '@b']],
  ['hostname', ['a', 'a.bc', '1.example.com'], ['-a', 'a..b', 'a_b']],
  ['ipv4', ['10.0.0.1', '010.0.0.1'], ['10.0.0', '::1', '10.0.0.256']],
  ['ipv6', ['::1', 'fe80::1'], ['10.0.0.1', ':::', 'fe80::1%eth0']],
  ['cidr', ['10.0.0.0/8', 'fd00::/64'], ['10.0.0.0', '10.0.0.0/33', '/8']],
  [
    'mac',
    ['01:23:45:67:89:ab', '01-23-45-67-89-ab', '0123.4567.89ab'],
    ['01:23:45:67:89', '01:23-45:67:89:ab'],
  ],
  ['uri', ['http://a/b', '/x', 'urn:a'], ['', 'a b', 'x', 'http://a b']],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123e4567']],
  ['uuid3', ['a3bb189e-8bf9-3888-9912-ace4e6543002'], ['a3bb189e-8bf9-4888-9912-ace4e6543002']],
  ['uuid4', ['a3bb189e-8bf9-4888-9912-ace4e6543002'], ['a3bb189e-8bf9-5888-9912-ace4e6543002']],
  ['uuid5', ['a3bb189e-8bf9-5888-9912-ace4e6543002'], ['a3bb189e-8bf9-4888-9912-ace4e6543002']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751044']],
  ['isbn10', ['0321751043'], ['978-0321751041']],
  ['isbn13', ['978-0321751041'], ['0321751043']],
  ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112', '1']],
  ['ssn', ['111-22-3333'], ['111223333', '11-222-3333']],
  ['hexcolor', ['#FFF', 'a1b2c3'], ['#FFFF', 'x']],
  ['rgbcolor', ['rgb(1, 2,255)'], ['rgb(1,2,256)', 'rgb(1,2)']],
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f']],
  ['k8s-short-name', ['a-b'], ['A', '-a', 'a.b']],
  ['k8s-long-name', ['a-b.c'], ['A', 'a..b']],
  ['no-such-format', ['anything'], []],
];

for (const [format, valid, invalid] of formats) {
  test(`format ${format}`, () => {
    const check = (text: string): boolean => errorsOf({ type: 'string', format }, text).length === 0;
    assert.deepEqual(
      valid.filter((text) => !check(text)),
      [],
    );
    assert.deepEqual(invalid.filter(check), []);
  });
}

test('a format error names the format and the value', () => {
  assert.deepEqual(errorsOf({ type: 'string', format: 'ipv4' }, 'x'), [
    `${T} Invalid value: "x": spec.x in body must be of type ipv4: "x"`,
  ]);
});

test('errors in the status are reported below it', () => {
  const compiled = compileSchema({
    type: 'object',
    properties: { status: { type: 'object', properties: { n: { type: 'integer' } }, required: ['m'] } },
  });
  const old = { metadata: {} };
  assert.deepEqual(compiled.validateStatus({ metadata: {}, status: { n: 'x' } }, old), [
    {
      type: 'FieldValueTypeInvalid',
      field: 'status.n',
      message: 'Invalid value: "string": n in body must be of type integer: "string"',
    },
    { type: 'FieldValueRequired', field: 'status.m', message: 'Required value' },
  ]);
});

test('errors that keep rules from running', () => {
  assert.equal(findBlockingError([{ type: 'FieldValueInvalid', field: 'a', message: 'x' }]), undefined);
  assert.equal(findBlockingError([{ type: 'FieldValueRequired', field: 'a', message: 'x' }])?.field, '<nil>');
});
