import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinResources } from '../builtin/kinds.ts';
import { jsonSchemaOf, openApiV2Schemas, openApiV3Schemas } from '../builtin/openapi.ts';
import { typeSchemaOf } from './builtin-schema.ts';
import { compileStructural } from './structural.ts';
import type { FieldSchema, ListSchema, ObjectSchema, TypeSchema } from './type-schema.ts';

function fieldAt(schema: TypeSchema, path: string): FieldSchema {
  let field: FieldSchema | undefined;
  let at: TypeSchema = schema;
  for (const name of path.split('.')) {
    while (at.type === 'list') at = at.items;
    field = at.type === 'object' ? at.fields.get(name) : undefined;
    assert.ok(field, `${name} of ${path}`);
    at = field.schema;
  }
  assert.ok(field);
  return field;
}

const deployment = typeSchemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' });

test('lists of built-in kinds know their keys, defaults and merge strategies', () => {
  const containers = fieldAt(deployment, 'spec.template.spec.containers');
  assert.equal(containers.patchMergeKey, 'name');
  assert.deepEqual(containers.patchStrategies, ['merge']);
  const list = containers.schema as ListSchema;
  assert.equal(list.listType, 'map');
  assert.deepEqual(list.mapKeys, [{ name: 'name', defaultValue: undefined }]);

  const ports = fieldAt(deployment, 'spec.template.spec.containers.ports');
  assert.equal(ports.patchMergeKey, 'containerPort');
  assert.deepEqual((ports.schema as ListSchema).mapKeys, [
    { name: 'containerPort', defaultValue: undefined },
    { name: 'protocol', defaultValue: 'TCP' },
  ]);
  assert.deepEqual(fieldAt(deployment, 'spec.strategy').patchStrategies, ['retainKeys']);
  assert.deepEqual(fieldAt(deployment, 'spec.template.spec.volumes').patchStrategies, [
    'merge',
    'retainKeys',
  ]);
  assert.equal(
    (fieldAt(deployment, 'spec.template.spec.tolerations').schema as ListSchema).listType,
    'atomic',
  );
  assert.equal((fieldAt(deployment, 'metadata.finalizers').schema as ListSchema).listType, 'set');
  assert.deepEqual((fieldAt(deployment, 'metadata.ownerReferences').schema as ListSchema).mapKeys, [
    { name: 'uid', defaultValue: undefined },
  ]);
});

test('atomic structs and maps are known', () => {
  assert.equal((fieldAt(deployment, 'spec.selector').schema as ObjectSchema).isAtomic, true);
  const nodeSelector = fieldAt(deployment, 'spec.template.spec.nodeSelector').schema;
  assert.equal(nodeSelector.type === 'map' && nodeSelector.isAtomic, true);
  const labels = fieldAt(deployment, 'metadata.labels').schema;
  assert.equal(labels.type === 'map' && labels.isAtomic, false);
});

test('scalars carry their format', () => {
  const formats: Record<string, string> = {
    'spec.replicas': 'integer',
    'spec.paused': 'boolean',
    'metadata.creationTimestamp': 'time',
    'spec.strategy.rollingUpdate.maxSurge': 'int-or-string',
  };
  for (const path in formats) {
    const { schema } = fieldAt(deployment, path);
    assert.equal(schema.type === 'scalar' ? schema.format : schema.type, formats[path], path);
  }
});

test('recursive kinds refer back to themselves', () => {
  const crd = typeSchemaOf({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
  });
  const props = fieldAt(crd, 'spec.versions.schema.openAPIV3Schema').schema;
  assert.equal(fieldAt(props, 'not').schema, props);
  const properties = fieldAt(props, 'properties').schema;
  assert.equal(properties.type === 'map' ? properties.values : undefined, props);
});

test('every served kind compiles', () => {
  for (const resource of builtinResources) assert.ok(typeSchemaOf(resource).fields.size > 0, resource.kind);
  assert.throws(
    () => typeSchemaOf({ group: 'example.com', version: 'v1', kind: 'Widget' }),
    /no built-in kind/,
  );
});

test('structural schemas compile', () => {
  const schema = compileStructural({
    type: 'object',
    properties: {
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        properties: {
          replicas: { type: 'integer' },
          port: { 'x-kubernetes-int-or-string': true },
          size: { type: 'string', nullable: true },
          tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'protocol'],
            items: {
              type: 'object',
              properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } },
            },
          },
          any: { 'x-kubernetes-preserve-unknown-fields': true },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          map: { type: 'object', additionalProperties: { type: 'number' } },
          template: { type: 'object', 'x-kubernetes-embedded-resource': true },
        },
      },
    },
  });
  assert.equal(
    fieldAt(schema, 'metadata').schema,
    typeSchemaOf({ group: '', version: 'v1', kind: 'Pod' }).fields.get('metadata')?.schema,
  );
  assert.deepEqual(fieldAt(schema, 'spec.port').schema, {
    type: 'scalar',
    format: 'int-or-string',
    nullable: false,
  });
  assert.deepEqual(fieldAt(schema, 'spec.size').schema, { type: 'scalar', format: 'string', nullable: true });
  assert.equal((fieldAt(schema, 'spec.tags').schema as ListSchema).listType, 'set');
  assert.deepEqual((fieldAt(schema, 'spec.ports').schema as ListSchema).mapKeys, [
    { name: 'port', defaultValue: undefined },
    { name: 'protocol', defaultValue: 'TCP' },
  ]);
  assert.deepEqual(fieldAt(schema, 'spec.any').schema, { type: 'any' });
  assert.equal((fieldAt(schema, 'spec.free').schema as ObjectSchema).preserveUnknown, true);
  assert.equal(fieldAt(schema, 'spec.map').schema.type, 'map');
  assert.ok(fieldAt(schema, 'spec.template.metadata'));
  assert.ok(fieldAt(schema, 'kind'));
});

test('OpenAPI components are closed under references', async () => {
  const v3 = await openApiV3Schemas({ group: 'apps', version: 'v1' });
  for (const [, name] of JSON.stringify(v3).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    assert.ok(v3[String(name)], String(name));
  }
  assert.deepEqual(v3['io.k8s.api.apps.v1.Deployment']?.['x-kubernetes-group-version-kind'], [
    { group: 'apps', kind: 'Deployment', version: 'v1' },
  ]);
  assert.deepEqual(await openApiV3Schemas({ group: 'example.com', version: 'v1' }), {});

  const v2 = await openApiV2Schemas();
  for (const [, name] of JSON.stringify(v2).matchAll(/"#\/definitions\/([^"]+)"/g))
    assert.ok(v2[String(name)], String(name));
  assert.equal(JSON.stringify(v2).includes('#/components'), false);
  assert.match((await jsonSchemaOf('io.k8s.api.core.v1.Pod'))?.description ?? '', /^Pod is a collection/);
  assert.equal(await jsonSchemaOf('io.k8s.api.core.v1.Nope'), undefined);
});
