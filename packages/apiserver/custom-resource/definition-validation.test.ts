import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema, KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { defaultDefinition } from './definition.ts';
import { validateDefinition } from './definition-validation.ts';
import { certificate, route, virtualMachine } from './definitions.fixture.ts';

function widget(spec: JsonObject = {}, metadata: KubeObject['metadata'] = {}): KubeObject {
  const crd: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', ...metadata },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
      ...spec,
    },
  };
  defaultDefinition(crd);
  return crd;
}

function version(schema: JsonSchema, more: JsonObject = {}): JsonObject {
  return {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema as JsonObject },
    ...more,
  };
}

function errorsOf(crd: KubeObject, old?: KubeObject): readonly string[] {
  return validateDefinition(crd, old).map((error) => `${error.field}: ${error.message}`);
}

function withX(x: JsonSchema): readonly string[] {
  return errorsOf(widget({ versions: [version({ type: 'object', properties: { x } })] }));
}

const S = 'spec.validation.openAPIV3Schema';

test('realistic definitions are accepted', () => {
  for (const crd of [widget(), certificate, virtualMachine, route]) assert.deepEqual(errorsOf(crd), []);
});

test('defaults of a definition', () => {
  const crd = widget({
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { service: { name: 'a', namespace: 'b' } } },
    },
  });
  const spec = crd['spec'] as JsonObject;
  assert.deepEqual(spec['names'], {
    plural: 'widgets',
    kind: 'Widget',
    singular: 'widget',
    listKind: 'WidgetList',
  });
  assert.equal(JSON.stringify(spec['conversion']).includes('"port":443'), true);
  assert.deepEqual(crd['status'], { storedVersions: ['v1'] });
  assert.deepEqual((widget()['spec'] as JsonObject)['conversion'], { strategy: 'None' });
});

const structural: readonly (readonly [string, JsonSchema, readonly string[]])[] = [
  ['no type', {}, [`${S}.properties[x].type: Required value: must not be empty for specified object fields`]],
  [
    'no type of items',
    { type: 'array', items: {} },
    [`${S}.properties[x].items.type: Required value: must not be empty for specified array items`],
  ],
  ['no items', { type: 'array' }, [`${S}.properties[x].items: Required value: must be specified`]],
  [
    'unknown type',
    { type: 'foo' },
    [
      `${S}.properties[x].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  ],
  [
    'properties and additionalProperties',
    { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    [
      `${S}.properties[x].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    ],
  ],
  [
    'uniqueItems',
    { type: 'array', items: { type: 'string' }, uniqueItems: true },
    [
      `${S}.properties[x].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  ],
  ['$ref', { $ref: '#/x' }, [`${S}.properties[x].$ref: Forbidden: $ref is not supported`]],
  [
    'type inside anyOf',
    { type: 'string', anyOf: [{ type: 'string' }] },
    [`${S}.properties[x].anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    'int-or-string may name its types in anyOf',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    [],
  ],
  [
    'description inside not',
    { type: 'string', not: { description: 'd' } },
    [`${S}.properties[x].not.description: Forbidden: must be empty to be structural`],
  ],
  [
    'default inside allOf',
    { type: 'string', allOf: [{ default: 'x' }] },
    [`${S}.properties[x].allOf[0].default: Forbidden: must be undefined to be structural`],
  ],
  [
    'preserve-unknown-fields: false',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    [
      `${S}.properties[x].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`,
    ],
  ],
  [
    'embedded resource without properties',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    [
      `${S}.properties[x].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
    ],
  ],
  [
    'bad pattern',
    { type: 'string', pattern: 'a(' },
    [
      `${S}.properties[x].pattern: Invalid value: "a(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`a(\``,
    ],
  ],
  [
    'list-map keys',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: { type: 'string' } } },
    },
    [
      `${S}.properties[x].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  ],
  [
    'list type on no list',
    { type: 'string', 'x-kubernetes-list-type': 'set' },
    [
      `${S}.properties[x].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`,
    ],
  ],
  [
    'default of the wrong type',
    { type: 'integer', default: 'x' },
    [`${S}.properties[x].default: Invalid value: "string":  in body must be of type integer: "string"`],
  ],
  [
    'default with unknown fields',
    { type: 'object', properties: { a: { type: 'string' } }, default: { b: 1 } },
    [`${S}.properties[x].default: Invalid value: {"b":1}: must not have unknown fields`],
  ],
];

for (const [name, schema, expected] of structural) {
  test(`structural schema: ${name}`, () => {
    assert.deepEqual(withX(schema), expected);
  });
}

test('what is checked under a junctor of the root must be specified outside of it', () => {
  const schema: JsonSchema = { type: 'object', anyOf: [{ properties: { a: { minLength: 1 } } }] };
  assert.deepEqual(errorsOf(widget({ versions: [version(schema)] })), [
    `${S}.properties[a]: Required value: because it is defined in ${S}.anyOf[0].properties[a]`,
  ]);
});

test('metadata may only restrict its names', () => {
  const metadata = (property: JsonSchema): readonly string[] =>
    errorsOf(widget({ versions: [version({ type: 'object', properties: { metadata: property } })] }));
  assert.deepEqual(metadata({ type: 'object', properties: { name: { type: 'string', maxLength: 5 } } }), []);
  assert.deepEqual(metadata({ type: 'object', properties: { labels: { type: 'object' } } }), [
    `${S}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
  ]);
});

test('versions: exactly one is stored, names are unique, paths tell which one', () => {
  const crd = widget({
    versions: [
      version({ type: 'object' }),
      version({ type: 'object', properties: { a: {} } }, { name: 'v1' }),
    ],
  });
  const [missing, ...told] = errorsOf(crd);
  assert.equal(
    missing,
    'spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
  );
  assert.deepEqual(
    told.map((text) => text.replace(/ \[.*\]: /, ' […]: ')),
    [
      'spec.versions: Invalid value: […]: must contain unique version names',
      'spec.versions: Invalid value: […]: must have exactly one version marked as storage version',
    ],
  );
});

test('names', () => {
  assert.deepEqual(errorsOf(widget({}, { name: 'foo' })), [
    'metadata.name: Invalid value: "foo": must be spec.names.plural+"."+spec.group',
  ]);
  const names = { plural: 'widgets', kind: 'Widget', listKind: 'Widget', shortNames: ['A'] };
  assert.equal(errorsOf(widget({ names })).length, 2);
});

test('conversion', () => {
  const conversion = (value: JsonObject): readonly string[] => errorsOf(widget({ conversion: value }));
  assert.deepEqual(conversion({ strategy: 'Webhook' }), [
    'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
    'spec.conversion.conversionReviewVersions: Required value',
  ]);
  assert.deepEqual(
    conversion({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v3'], clientConfig: { url: 'http://a@b/?x=1#f' } },
    }),
    [
      `spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'spec.conversion.webhookClientConfig.url: Invalid value: "a": user information is not permitted in the URL',
      'spec.conversion.webhookClientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
      'spec.conversion.webhookClientConfig.url: Invalid value: "x=1": query parameters are not permitted in the URL',
      'spec.conversion.conversionReviewVersions: Invalid value: ["v3"]: must include at least one of v1, v1beta1',
    ],
  );
});

test('columns, scale and selectable fields', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' }, o: { type: 'object' } } } },
  };
  const more: JsonObject = {
    additionalPrinterColumns: [{ name: '', type: 'x', jsonPath: 'a' }],
    subresources: { scale: { specReplicasPath: '.x', statusReplicasPath: '.status.n' } },
    selectableFields: ['.spec.a', '.spec.a', '.spec.o', ".spec['a']", '.spec.z'].map((jsonPath) => ({
      jsonPath,
    })),
  };
  assert.deepEqual(errorsOf(widget({ versions: [version(schema, more)] })), [
    'spec.subresources.scale.specReplicasPath: Invalid value: ".x": should be a json path under .spec',
    'spec.additionalPrinterColumns[0].name: Required value',
    'spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
    'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
    'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
    'spec.selectableFields[2].jsonPath: Invalid value: ".spec.o": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    `spec.selectableFields[3].jsonPath: Invalid value: ".spec['a']": is an invalid path: array notation is not allowed`,
    'spec.selectableFields[4].jsonPath: Invalid value: ".spec.z": is an invalid path: does not refer to a valid field',
  ]);
});

test('reserved groups need an approval', () => {
  const reserved = (annotations: Record<string, string>): readonly string[] =>
    errorsOf(widget({ group: 'x.k8s.io' }, { name: 'widgets.x.k8s.io', annotations }));
  assert.equal(reserved({}).length, 1);
  assert.equal(reserved({ 'api-approved.kubernetes.io': 'bad' }).length, 1);
  assert.deepEqual(reserved({ 'api-approved.kubernetes.io': 'unapproved, test' }), []);
  assert.deepEqual(reserved({ 'api-approved.kubernetes.io': 'https://github.com/kubernetes/x/1' }), []);
});

test('what may not change, and stored versions that may not go', () => {
  const old = widget();
  old['status'] = { storedVersions: ['v0', 'v1'], conditions: [{ type: 'Established', status: 'True' }] };
  const next = widget({ scope: 'Cluster', names: { plural: 'ws', kind: 'W' }, group: 'b.com' });
  next['status'] = old['status'];
  assert.deepEqual(
    errorsOf(next, old).map((text) => text.slice(0, 60)),
    [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "W": field is immutable',
      'spec.group: Invalid value: "b.com": field is immutable',
      'spec.names.plural: Invalid value: "ws": field is immutable',
      'status.storedVersions[0]: Invalid value: "v0": missing from ',
    ],
  );
});

test('rules are compiled only for schemas without other errors', () => {
  const asked: string[] = [];
  const checks = {
    compileRules(_schema: JsonSchema, path: string) {
      asked.push(path);
      return [];
    },
  };
  validateDefinition(widget(), undefined, checks);
  validateDefinition(widget({ versions: [version({ type: 'string' })] }), undefined, checks);
  assert.deepEqual(asked, [S]);
});
