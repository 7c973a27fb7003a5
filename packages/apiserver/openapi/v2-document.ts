import type { JsonSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { Body, Operation, Parameter, PathDescription } from './operation.ts';
import { answerTexts } from './v3-document.ts';

export interface V2Source {
  readonly paths: readonly PathDescription[];
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

/** A Swagger 2.0 document. Parameters that many operations have are kept once and referred to. */
export function v2Document({ paths, definitions }: V2Source): JsonObject {
  const parameters: Record<string, JsonObject> = {};
  const items: JsonObject = {};
  for (const path of paths) items[path.path] = pathItem(path, parameters);
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: items,
    definitions: definitions as unknown as JsonObject,
    parameters,
    securityDefinitions: {
      BearerToken: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathItem(
  { parameters, operations }: PathDescription,
  shared: Record<string, JsonObject>,
): JsonObject {
  const item: JsonObject = {};
  for (const operation of operations) item[operation.method] = operationObject(operation, shared);
  if (parameters.length > 0)
    item['parameters'] = parameters.map((parameter) => parameterOf(parameter, shared));
  return item;
}

function operationObject(operation: Operation, shared: Record<string, JsonObject>): JsonObject {
  const { action, kind, body } = operation;
  const parameters = operation.parameters.map((parameter) => parameterOf(parameter, shared));
  if (body) parameters.unshift(bodyParameter(body));
  const responses: JsonObject = {};
  for (const { code, schema } of operation.answers) {
    responses[code] = {
      description: answerTexts[code],
      schema: schema === undefined ? { type: 'string' } : reference(schema),
    };
  }
  responses['401'] = { description: 'Unauthorized' };
  return {
    description: operation.description,
    consumes: [...(body?.consumes ?? ['*/*'])],
    produces: [...operation.produces],
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses,
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind ? { 'x-kubernetes-group-version-kind': { ...kind } } : {}),
  };
}

function bodyParameter({ schema, isRequired }: Body): JsonObject {
  return {
    name: 'body',
    in: 'body',
    ...(isRequired ? { required: true } : {}),
    schema: reference(schema),
  };
}

function reference(definition: string): JsonObject {
  return { $ref: `#/definitions/${definition}` };
}

function parameterOf(parameter: Parameter, shared: Record<string, JsonObject>): JsonObject {
  if (parameter.key.includes('/')) return parameterObject(parameter);
  shared[parameter.key] ??= parameterObject(parameter);
  return { $ref: `#/parameters/${parameter.key}` };
}

function parameterObject(parameter: Parameter): JsonObject {
  return {
    uniqueItems: true,
    type: parameter.type,
    ...(parameter.description === '' ? {} : { description: parameter.description }),
    name: parameter.name,
    in: parameter.in,
    ...(parameter.in === 'path' ? { required: true } : {}),
  };
}
