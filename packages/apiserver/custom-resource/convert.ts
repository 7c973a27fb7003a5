import { type KubeObject } from '@sheaf/api';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonClone,
  jsonEqual,
  StatusError,
  toError,
} from '@sheaf/base';
import { validateAnnotations, validateLabels } from './embedded-meta.ts';
import { goQuote, jsonTypeOf } from './go-text.ts';
import { readObject, readText } from './json-reader.ts';

/** How a definition's webhook is reached. */
export interface WebhookConverter {
  /** `conversionReviewVersions` of the definition, in its order. */
  readonly reviewVersions: readonly string[];
  /** Sends a review and returns the answer. */
  call(review: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /** A fresh identifier for a request. */
  uid(): string;
}

const maxBatch = 500;

/** Conversion strategy `None`: the same content under another version. Shares everything but the outermost object. */
export function convertByName(object: KubeObject, apiVersion: string): KubeObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/**
 * Conversion strategy `Webhook`: objects that have another version are sent to the webhook, in batches; the answer must
 * have the same objects, and may change of their metadata only labels and annotations. Inputs are never changed.
 * @throws StatusError 500 with the webhook's or the check's message
 */
export async function convertByWebhook(
  objects: readonly KubeObject[],
  apiVersion: string,
  options: { readonly webhook: WebhookConverter; readonly signal: AbortSignal },
): Promise<readonly KubeObject[]> {
  const results = [...objects];
  const indices = objects.flatMap((object, index) => (needsWebhook(object, apiVersion) ? [index] : []));
  for (const [index, object] of results.entries()) {
    if (isBare(object)) results[index] = convertByName(object, apiVersion);
  }
  for (let start = 0; start < indices.length; start += maxBatch) {
    const batch = indices.slice(start, start + maxBatch);
    const originals = batch.flatMap((index) => objects[index] ?? []);
    const converted = await convertBatch(originals, apiVersion, options);
    batch.forEach((index, position) => {
      const object = converted[position];
      if (object !== undefined) results[index] = object;
    });
  }
  return results;
}

function needsWebhook(object: KubeObject, apiVersion: string): boolean {
  return object.apiVersion !== apiVersion && !isBare(object);
}

/** An object that has nothing but its kind and version. */
function isBare(object: KubeObject): boolean {
  const keys = Object.keys(object);
  return keys.length === 2 && keys.includes('kind') && keys.includes('apiVersion');
}

async function convertBatch(
  originals: readonly KubeObject[],
  apiVersion: string,
  { webhook, signal }: { readonly webhook: WebhookConverter; readonly signal: AbortSignal },
): Promise<readonly KubeObject[]> {
  const subject = describe(originals[0]);
  const review = buildReview(originals, apiVersion, webhook);
  let answer: JsonObject;
  try {
    answer = await webhook.call(review.json, signal);
  } catch (error) {
    throw failure(`conversion webhook for ${subject} failed: ${toError(error).message}`, error);
  }
  const objects = readAnswer(answer, review, subject);
  if (objects.length !== originals.length) {
    throw failure(
      `conversion webhook for ${subject} returned ${objects.length} objects, expected ${originals.length}`,
    );
  }
  return originals.map((original, index) => {
    const check: Check = { original, apiVersion, subject, index };
    return restoreMetadata(checkConverted(objects[index], check), check);
  });
}

function failure(message: string, cause?: unknown): StatusError {
  return new StatusError({ reason: '', code: 500, message, cause });
}

function describe(object: KubeObject | undefined): string {
  return `${object?.apiVersion ?? ''}, Kind=${object?.kind ?? ''}`;
}

interface Review {
  readonly json: JsonObject;
  readonly uid: string;
  readonly version: string;
}

const knownVersions: ReadonlySet<string> = new Set(['v1', 'v1beta1']);

/** The request, in the first review version the server knows. Throws when there is none. */
function buildReview(objects: readonly KubeObject[], apiVersion: string, webhook: WebhookConverter): Review {
  const version = webhook.reviewVersions.find((name) => knownVersions.has(name));
  if (version === undefined) throw failure('no supported conversion review versions');
  const uid = webhook.uid();
  const json: JsonObject = {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: apiVersion, objects: objects as unknown as JsonValue[] },
  };
  return { json, uid, version };
}

function readAnswer(answer: JsonObject, review: Review, subject: string): readonly (JsonValue | undefined)[] {
  const fault = (text: string): StatusError => failure(`conversion webhook for ${subject} failed: ${text}`);
  if (review.version === 'v1') {
    const wanted = 'apiextensions.k8s.io/v1, Kind=ConversionReview';
    const actual = `${readText(answer['apiVersion'])}, Kind=${readText(answer['kind'])}`;
    if (actual !== wanted) throw fault(`expected webhook response of ${wanted}, got ${actual}`);
  }
  const response = readObject(answer['response']);
  if (response === undefined) throw fault('no response provided');
  const uid = readText(response['uid']);
  if (review.version === 'v1' && uid !== review.uid) {
    throw fault(`expected response.uid=${goQuote(review.uid)}, got ${goQuote(uid)}`);
  }
  const result = readObject(response['result']) ?? {};
  const status = readText(result['status']);
  if (status !== 'Success') {
    throw fault(readText(result['message']) || `response.result.status was '${status}', not 'Success'`);
  }
  return Array.isArray(response['convertedObjects']) ? response['convertedObjects'] : [];
}

interface Check {
  readonly original: KubeObject;
  readonly apiVersion: string;
  readonly subject: string;
  readonly index: number;
}

function checkConverted(converted: JsonValue | undefined, check: Check): JsonObject {
  const { original, apiVersion, subject, index } = check;
  const where = `conversion webhook for ${subject} returned invalid converted object at index ${index}`;
  if (!isJsonObject(converted)) throw failure(`${where}: Object 'Kind' is missing`);
  const actual = readText(converted['apiVersion']);
  if (actual !== apiVersion) {
    throw failure(`${where}: invalid groupVersion (expected ${apiVersion}, received ${actual})`);
  }
  const kind = readText(converted['kind']);
  if (kind !== original.kind) {
    throw failure(`${where}: invalid kind (expected ${original.kind}, received ${kind})`);
  }
  const metadata = readObject(converted['metadata']) ?? {};
  for (const [field, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[field] ?? '';
    const after = readText(metadata[field]);
    if (before !== after) throw failure(`${where}: must have the same ${name}: ${before} != ${after}`);
  }
  return converted;
}

/** The converted object with the original's metadata, but for labels and annotations. */
function restoreMetadata(converted: JsonObject, { original, subject, index }: Check): KubeObject {
  const where = `conversion webhook for ${subject} returned invalid metadata in object at index ${index}`;
  const answered = converted['metadata'];
  if (answered === undefined) throw failure(`${where}: missing metadata in converted object`);
  if (!isJsonObject(answered)) {
    throw failure(`${where}: invalid metadata of type ${goType(answered)} in converted object`);
  }
  const metadata = jsonClone(original.metadata as unknown as JsonObject);
  for (const field of ['labels', 'annotations'] as const) {
    const value = answered[field];
    if (value === undefined || value === null) {
      delete metadata[field];
      continue;
    }
    const fault = findMapFault(field, value, metadata[field]);
    if (fault !== undefined) throw failure(`${where}: ${fault}`);
    metadata[field] = value;
  }
  return { ...converted, metadata };
}

function findMapFault(
  field: 'labels' | 'annotations',
  value: JsonValue,
  before: JsonValue | undefined,
): string | undefined {
  if (!isJsonObject(value)) return `invalid metadata.${field} of type ${goType(value)} in converted object`;
  for (const key of Object.keys(value)) {
    if (typeof value[key] === 'string') continue;
    return `metadata.${field}[${key}] must be a string, but is ${goType(value[key])} in converted object`;
  }
  if (jsonEqual(value, before)) return undefined;
  const errors =
    field === 'labels'
      ? validateLabels(value, 'metadata.labels')
      : validateAnnotations(value, 'metadata.annotation');
  const texts = errors.map((error) => `${error.field}: ${error.message}`);
  if (texts.length === 0) return undefined;
  return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
}

const goTypes: Readonly<Record<string, string>> = {
  null: '<nil>',
  integer: 'int64',
  number: 'float64',
  boolean: 'bool',
  array: '[]interface {}',
  object: 'map[string]interface {}',
};

function goType(value: JsonValue | undefined): string {
  const type = jsonTypeOf(value);
  return goTypes[type] ?? type;
}
