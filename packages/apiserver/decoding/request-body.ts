import { decodeEnvelope, decodeJson, decodeYaml, unreadable } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, type JsonValue, StatusError } from '@sheaf/base';
import type { ApiRequest } from '../pipeline/api-request.ts';
import { headerOf } from '../pipeline/request-context.ts';
import { parseMediaType } from '../representation/media-types.ts';

export interface DecodedBody {
  readonly value: JsonValue;
  /** e.g. `duplicate field "metadata.labels.a"`; protobuf knows none. */
  readonly duplicateFields: readonly string[];
}

const accepted = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** Reads an API object in any format that the server speaks. `kind` is what it should be, for the error's text. @throws StatusError 400, 413, 415 */
export async function readApiBody(request: ApiRequest, kind?: string): Promise<DecodedBody> {
  const type = contentTypeOf(request);
  const bytes = await request.readBody();
  const options = kind === undefined ? {} : { kind };
  switch (type) {
    case 'application/json':
      return decodeJson(bytes, options);
    case 'application/yaml':
      return decodeYaml(bytes, options);
    case 'application/vnd.kubernetes.protobuf':
      return { value: decodeProtobuf(bytes, kind), duplicateFields: [] };
    default:
      throw unsupportedMediaType(accepted);
  }
}

function decodeProtobuf(bytes: Uint8Array, kind: string | undefined): JsonObject {
  try {
    return decodeEnvelope(bytes).object;
  } catch (error) {
    const isNone = StatusError.is(error, 'BadRequest') && error.message.startsWith('provided data does not');
    if (!isNone || kind === undefined) throw error;
    throw unreadable({ bytes, options: { kind }, reason: error.message, cause: error });
  }
}

/** The media type of the body; a missing header means JSON. */
export function contentTypeOf(request: ApiRequest): string {
  const header = headerOf(request, 'content-type');
  if (header === undefined || header === '') return 'application/json';
  const type = parseMediaType(header)?.type;
  if (!type) throw unsupportedMediaType(accepted);
  return type;
}

export function unsupportedMediaType(known: readonly string[]): StatusError {
  return new StatusError({
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${known.join(', ')}`,
  });
}

/** What a body is to become. */
export interface ExpectedObject {
  readonly kind: string;
  /** Kinds that the server does not know by itself must be named in the body. */
  readonly isBuiltin: boolean;
}

export interface DecodedObject {
  readonly json: JsonObject;
  readonly duplicateFields: readonly string[];
}

/** Reads the body of a create or an update. @throws StatusError 400, 413, 415 */
export async function readObjectBody(request: ApiRequest, expected: ExpectedObject): Promise<DecodedObject> {
  const { value, duplicateFields } = await readApiBody(request, expected.kind);
  // Go reads null into nothing.
  const json = value ?? {};
  if (!isJsonObject(json)) {
    const type = Array.isArray(json) ? 'array' : typeof json === 'boolean' ? 'bool' : typeof json;
    const reason = `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type ${typeMeta}`;
    throw await unreadableBody(request, expected, reason);
  }
  if (!expected.isBuiltin && !json['kind']) {
    const reason = `Object 'Kind' is missing in '${JSON.stringify(json).slice(0, missingKindLimit)}'`;
    throw await unreadableBody(request, expected, reason);
  }
  return { json, duplicateFields };
}

const missingKindLimit = 1024;
const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

async function unreadableBody(
  request: ApiRequest,
  { kind }: ExpectedObject,
  reason: string,
): Promise<StatusError> {
  return unreadable({ bytes: await request.readBody(), options: { kind }, reason, cause: undefined });
}

/** @throws StatusError 400 */
export function asJsonObject(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value;
  throw badRequest(
    `an API object is a JSON object with kind, apiVersion and metadata, not ${value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`}`,
  );
}

/** A patch of any kind: JSON, or YAML for server-side apply. @throws StatusError 400, 413 */
export async function readPatchBody(request: ApiRequest): Promise<JsonValue> {
  return (await readPatch(request)).value;
}

/** As `readPatchBody`, with the fields that are there twice. @throws StatusError 400, 413 */
export async function readPatch(request: ApiRequest): Promise<DecodedBody> {
  const bytes = await request.readBody();
  const isApply = contentTypeOf(request) === 'application/apply-patch+yaml';
  try {
    return isApply ? decodeYaml(bytes) : decodeJson(bytes);
  } catch (error) {
    throw asPatchFault(error, isApply);
  }
}

function asPatchFault(error: unknown, isApply: boolean): unknown {
  if (!StatusError.is(error, 'BadRequest')) return error;
  const detail = error.message.replace("couldn't get version/kind; json parse error: ", '');
  const what = isApply ? 'error decoding YAML: error converting YAML to JSON' : 'error decoding patch';
  return badRequest(`${what}: ${detail}`, error);
}
