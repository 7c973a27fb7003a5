import { asJson, asObject, type KubeObject } from '@sheaf/api';
import {
  applyJsonPatch,
  applyMergePatch,
  badRequest,
  isJsonObject,
  type JsonValue,
  parseJsonPatch,
  StatusError,
} from '@sheaf/base';
import { contentTypeOf, readPatch, unsupportedMediaType } from '../decoding/request-body.ts';
import { type FieldValidation, readWriteOptions } from '../options/write-options.ts';
import { strategicMergePatch } from '../patch/index.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import { applyObject } from './apply.ts';
import { changeObject } from './change-object.ts';
import { conformIncoming, nameMissing, requestedPlace } from './incoming-object.ts';
import type { WriteResult } from './update.ts';
import type { WriteParts } from './write-parts.ts';

const jsonPatchType = 'application/json-patch+json';
const mergePatchType = 'application/merge-patch+json';
const strategicType = 'application/strategic-merge-patch+json';
const applyType = 'application/apply-patch+yaml';

/** PATCH on a name or its status, in any of the four forms. */
export async function patchObject(
  context: ResourceContext,
  resource: Resource,
  parts: WriteParts,
): Promise<WriteResult> {
  const type = contentTypeOf(context.request);
  if (!patchTypes(resource).includes(type)) throw unsupportedPatch(resource);
  if (type === applyType) return applyObject(context, resource, parts);
  const options = readWriteOptions(context.query, 'PatchOptions');
  const { value, duplicateFields } = await readPatch(context.request);
  const served = await changeObject(context, resource, {
    place: requestedPlace(context, resource),
    options,
    parts,
    optionsKind: 'PatchOptions',
    subresource: context.info.subresource,
    make: (current) => {
      const patched = patchValue(resource, { type, current, patch: value });
      return conformPatched(context, resource, {
        patched,
        fieldValidation: options.fieldValidation,
        duplicateFields,
      });
    },
  });
  return { served, isCreated: false };
}

export function patchTypes(resource: Resource): readonly string[] {
  const common = [jsonPatchType, mergePatchType, applyType];
  return resource.isBuiltin ? [...common, strategicType] : common;
}

interface PatchInput {
  readonly type: string;
  readonly current: KubeObject;
  readonly patch: JsonValue;
}

/** @throws StatusError 400, 413, 422 */
export function patchValue(resource: Resource, { type, current, patch }: PatchInput): JsonValue {
  if (type === jsonPatchType) return applyJsonPatch(asJson(current), readJsonPatch(patch));
  if (!isJsonObject(patch)) throw notAnObject(type, patch);
  if (type === mergePatchType) return applyMergePatch(asJson(current), patch);
  return strategicMergePatch(asJson(current), patch, resource.strategy.typeSchema);
}

/** @throws StatusError 400, 413 */
function readJsonPatch(patch: JsonValue): ReturnType<typeof parseJsonPatch> {
  if (!Array.isArray(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goTypeOf(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  return parseJsonPatch(patch);
}

function notAnObject(type: string, patch: JsonValue): StatusError {
  const what = type === mergePatchType ? 'error decoding patch: ' : '';
  return badRequest(
    `${what}json: cannot unmarshal ${goTypeOf(patch)} into Go value of type map[string]interface {}`,
  );
}

function goTypeOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function unsupportedPatch(resource: Resource): StatusError {
  if (!resource.isBuiltin) return unsupportedMediaType(patchTypes(resource));
  return new StatusError({
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
    details: {},
  });
}

interface Patched {
  readonly patched: JsonValue;
  readonly fieldValidation: FieldValidation;
  readonly duplicateFields: readonly string[];
}

function conformPatched(
  context: ResourceContext,
  resource: Resource,
  { patched, fieldValidation, duplicateFields }: Patched,
): KubeObject {
  if (!isJsonObject(patched))
    throw badRequest('the patch turns the object into something that is not an object');
  checkIdentity(context, asObject(patched));
  try {
    return conformIncoming(context, resource, { json: patched, fieldValidation, duplicateFields });
  } catch (error) {
    throw asPatchError(error);
  }
}

/** What cannot be read after the patch is told as an invalid `patch` field. */
function asPatchError(error: unknown): unknown {
  const strict = 'strict decoding error: ';
  if (!StatusError.is(error, 'BadRequest')) return error;
  const start = error.message.indexOf(strict);
  const detail = start < 0 ? withoutSubject(error.message) : error.message.slice(start);
  const message = `Invalid value: ${JSON.stringify(detail)}: ${detail}`;
  return new StatusError({
    reason: 'Invalid',
    message: ` "" is invalid: patch: ${message}`,
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
    cause: error,
  });
}

function withoutSubject(message: string): string {
  return message.replace(/^\S+ in version "[^"]*" cannot be handled as an? \S+: /, '');
}

function checkIdentity(context: ResourceContext, patched: KubeObject): void {
  const metadata: unknown = patched.metadata;
  const { name, namespace } = isJsonObject(metadata) ? metadata : {};
  if (name === undefined || name === null || name === '') throw nameMissing(context.info.name);
  if (name !== context.info.name) {
    throw badRequest(
      `the name of the object (${typeof name === 'string' ? name : ''}) does not match the name on the URL (${context.info.name})`,
    );
  }
  if (typeof namespace === 'string' && namespace !== context.info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}
