import type { JsonSchema } from '@sheaf/api';
import type { JsonObject, JsonValue } from '@sheaf/base';
import type { Answer, Body, Operation, Parameter, PathDescription } from './operation.ts';

export interface V3Source {
  readonly paths: readonly PathDescription[];
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** The kube-apiserver's title, or that of documents of custom resources. */
  readonly title: string;
  readonly version: string;
}

/** An OpenAPI 3.0 document. */
export function v3Document({ paths, schemas, title, version }: V3Source): JsonObject {
  const items: JsonObject = {};
  for (const path of paths) items[path.path] = pathItem(path);
  return {
    openapi: '3.0.0',
    info: { title, version },
    paths: items,
    components: {
      schemas: schemas as unknown as JsonObject,
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          description: 'Bearer Token authentication',
          name: 'authorization',
          in: 'header',
        },
      },
    },
  };
}

function pathItem({ parameters, operations }: PathDescription): JsonObject {
  const item: JsonObject = {};
  for (const operation of operations) item[operation.method] = operationObject(operation);
  if (parameters.length > 0) item['parameters'] = parameters.map((parameter) => parameterObject(parameter));
  return item;
}

function operationObject(operation: Operation): JsonObject {
  const { action, kind, body, parameters } = operation;
  const responses: JsonObject = {};
  for (const answer of operation.answers) responses[answer.code] = answerObject(answer, operation.produces);
  responses['401'] = { description: 'Unauthorized' };
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(parameters.length > 0 ? { parameters: parameters.map((item) => parameterObject(item)) } : {}),
    ...(body ? { requestBody: bodyObject(body) } : {}),
    responses,
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind ? { 'x-kubernetes-group-version-kind': { ...kind } } : {}),
  };
}

function bodyObject({ schema, consumes, isRequired }: Body): JsonObject {
  return { content: contentOf(consumes, reference(schema)), ...(isRequired ? { required: true } : {}) };
}

export const answerTexts: Readonly<Record<Answer['code'], string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
};

function answerObject({ code, schema }: Answer, produces: readonly string[]): JsonObject {
  const content = schema === undefined ? { type: 'string' } : reference(schema);
  return { description: answerTexts[code], content: contentOf(produces, content) };
}

function contentOf(types: readonly string[], schema: JsonObject): JsonObject {
  const content: Record<string, JsonValue> = {};
  for (const type of types) content[type] = { schema };
  return content;
}

function reference(definition: string): JsonObject {
  return { $ref: `#/components/schemas/${definition}` };
}

function parameterObject(parameter: Parameter): JsonObject {
  return {
    name: parameter.name,
    in: parameter.in,
    ...(parameter.description === '' ? {} : { description: parameter.description }),
    ...(parameter.in === 'path' ? { required: true } : {}),
    schema: { type: parameter.type, uniqueItems: true },
  };
}
