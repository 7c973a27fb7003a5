import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtinResources, type KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';
import { ResourceRegistry } from '../registry/resource-registry.ts';
import type { LiveView } from '../storage/live-view.ts';
import { OpenApiDocuments } from './documents.ts';
import recorded from './fixtures/documents.json' with { type: 'json' };
import { encodeV2Document } from './v2-protobuf.ts';
import { encodeV3Document } from './v3-protobuf.ts';

const crd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.acme.example.com', uid: 'u', generation: 1 },
  spec: {
    group: 'acme.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', description: 'What.' } } },
        },
      },
    ],
  },
};

const widget = {
  group: 'acme.example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  listKind: 'WidgetList',
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  isBuiltin: false,
  subresources: new Map(),
};

function setUp(definitions: Map<string, KubeObject> = new Map()): {
  registry: ResourceRegistry;
  documents: OpenApiDocuments;
} {
  const registry = new ResourceRegistry();
  registry.add(
    builtinResources.map((resource) => ({
      ...resource,
      plural: resource.resource,
      isBuiltin: true,
      subresources: new Map(resource.subresources.map((item) => [item.name, item])),
    })) as unknown as Resource[],
  );
  const view = { get: (_: string, name: string) => definitions.get(name) } as unknown as LiveView;
  const options = { registry, definitions: view, encodeV2: encodeV2Document, encodeV3: encodeV3Document };
  return { registry, documents: new OpenApiDocuments(options) };
}

async function read(documents: OpenApiDocuments, path: string): Promise<JsonObject> {
  const document = await documents.find(path)?.load('json');
  assert.ok(document, `${path} is not there`);
  return JSON.parse(Buffer.from(await document.plain()).toString()) as JsonObject;
}

interface OperationObject {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly content: Record<string, unknown> };
  readonly responses: Record<
    string,
    { readonly content?: Record<string, { readonly schema: { readonly $ref?: string } }> }
  >;
  readonly 'x-kubernetes-action'?: string;
  readonly 'x-kubernetes-group-version-kind'?: { readonly kind: string };
}

interface ParameterObject {
  readonly name: string;
  readonly in: string;
}

type PathObject = Record<string, OperationObject | readonly ParameterObject[]>;

function digestOf(item: PathObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(item).map(([method, part]) => [
      method,
      'operationId' in part
        ? digestOfOperation(part)
        : part.map((parameter) => `${parameter.in} ${parameter.name}`).sort(),
    ]),
  );
}

function digestOfOperation(operation: OperationObject): readonly string[] {
  const answers = Object.entries(operation.responses).flatMap(([code, { content }]) => {
    const [first] = Object.values(content ?? {});
    return first ? [`${code}:${(first.schema.$ref ?? 'string').split('/').at(-1)}`] : [];
  });
  return [
    operation.operationId,
    operation.description,
    operation['x-kubernetes-action'] ?? '',
    operation['x-kubernetes-group-version-kind']?.kind ?? '',
    (operation.parameters ?? [])
      .map(({ name }) => name)
      .sort()
      .join(' '),
    Object.keys(operation.requestBody?.content ?? {})
      .sort()
      .join(' '),
    answers.join(' '),
  ];
}

describe('OpenAPI documents', () => {
  for (const [path, wanted] of Object.entries(recorded)) {
    it(`describes ${path} as a kube-apiserver does`, async () => {
      const document = await read(setUp().documents, path);
      const { schemas } = document['components'] as { schemas: JsonObject };
      const paths = document['paths'] as unknown as Record<string, PathObject>;
      const digests = Object.fromEntries(Object.entries(paths).map(([name, item]) => [name, digestOf(item)]));
      assert.deepEqual(digests, wanted.paths);
      assert.deepEqual(Object.keys(schemas).sort(), wanted.schemas);
    });
  }

  it('refers only to definitions that are there', async () => {
    const { documents, registry } = setUp(new Map([['widgets.acme.example.com', crd]]));
    registry.add([widget as unknown as Resource]);
    const index = JSON.parse(Buffer.from(documents.index()).toString()) as { paths: JsonObject };
    for (const path of Object.keys(index.paths)) {
      const document = await read(documents, path);
      const { schemas } = document['components'] as { schemas: JsonObject };
      const references = JSON.stringify(document).match(/"#\/components\/schemas\/[^"]+"/g) ?? [];
      const missing = references.filter((text) => !Object.hasOwn(schemas, text.slice(22, -1)));
      assert.deepEqual([...new Set(missing)], [], path);
    }
    const all = await documents.all().load('json');
    const swagger = JSON.parse(Buffer.from(await all.plain()).toString()) as { definitions: JsonObject };
    const references = JSON.stringify(swagger).match(/"#\/definitions\/[^"]+"/g) ?? [];
    const missing = references.filter((text) => !Object.hasOwn(swagger.definitions, text.slice(15, -1)));
    assert.deepEqual([...new Set(missing)], []);
    assert.ok(Object.hasOwn(swagger.definitions, 'com.example.acme.v1.Widget'));
  });

  it('follows custom resources, and keeps the other documents', async () => {
    const definitions = new Map<string, KubeObject>();
    const { registry, documents } = setUp(definitions);
    const before = documents.find('apis/apps/v1')?.hash;
    assert.equal(documents.find('apis/acme.example.com/v1'), undefined);
    definitions.set('widgets.acme.example.com', crd);
    registry.add([widget as unknown as Resource]);
    const first = documents.find('apis/acme.example.com/v1')?.hash;
    assert.ok(first);
    assert.equal(documents.find('apis/apps/v1')?.hash, before);
    definitions.set('widgets.acme.example.com', { ...crd, metadata: { ...crd.metadata, generation: 2 } });
    registry.add([widget as unknown as Resource]);
    assert.notEqual(documents.find('apis/acme.example.com/v1')?.hash, first);
    registry.replace('acme.example.com', 'widgets', []);
    assert.equal(documents.find('apis/acme.example.com/v1'), undefined);
  });

  it('writes both protobuf forms', async () => {
    const { documents } = setUp();
    const v3 = await (await documents.find('apis/apps/v1')?.load('protobuf'))?.plain();
    assert.deepEqual([...(v3 ?? []).slice(0, 7)], [0x0a, 5, ...Buffer.from('3.0.0')]);
    const v2 = await (await documents.all().load('protobuf')).plain();
    assert.deepEqual([...v2.slice(0, 5)], [0x0a, 3, ...Buffer.from('2.0')]);
  });
});
