import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import { headerOf } from '../pipeline/request-context.ts';
import type { ResourceRequestInfo } from '../pipeline/request-info.ts';
import type { ObservedResult } from '../pipeline/request-observer.ts';
import type { AuditLevel } from './audit-policy.ts';
import { type NewMetadata, readProtobufMetadata } from './protobuf-metadata.ts';

export type AuditStage = 'ResponseStarted' | 'ResponseComplete';

/** What is known of a request when its event is written. */
export interface AuditRecord {
  readonly auditId: string;
  readonly level: AuditLevel;
  readonly omitManagedFields: boolean;
  readonly stage: AuditStage;
  readonly request: ApiRequest;
  readonly result: ObservedResult;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly at: number;
  readonly annotations: ReadonlyMap<string, string> | undefined;
  readonly requestBody: Uint8Array | undefined;
}

/** What a client chooses is cut before it is written. */
const textLimit = 4096;
const idLimit = 128;
const bodyLimitBytes = 256 * 1024;

/** An `audit.k8s.io/v1 Event` as one line of JSON. Written piece by piece, as every write of the server makes one. */
export function auditLine(record: AuditRecord): string {
  const { request, result, level } = record;
  const { user, impersonator, info } = result;
  const answered = answeredObject(record);
  const agent = headerOf(request, 'user-agent') ?? '';
  return (
    `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}"` +
    `,"auditID":${quoted(record.auditId.slice(0, idLimit))},"stage":"${record.stage}"` +
    `,"requestURI":${quoted(uriOf(request))},"verb":${quoted(info.verb)}` +
    `,"user":${userText(impersonator ?? user)}` +
    (impersonator ? `,"impersonatedUser":${userText(user)}` : '') +
    `,"sourceIPs":[${quoted(request.remoteAddress)}],"userAgent":${quoted(agent.slice(0, textLimit))}` +
    (info.isResource ? `,"objectRef":${objectReference(info, createdMetadata(result, answered))}` : '') +
    `,"responseStatus":${responseStatus(result.response, answered)}${bodies(record, answered)}` +
    `,"requestReceivedTimestamp":"${microTime(record.receivedAt)}","stageTimestamp":"${microTime(record.at)}"` +
    (record.annotations ? `,"annotations":${JSON.stringify(Object.fromEntries(record.annotations))}` : '') +
    '}\n'
  );
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function uriOf({ path, query }: ApiRequest): string {
  return (query === '' ? path : `${path}?${query}`).slice(0, textLimit);
}

const userTexts = new WeakMap<User, string>();

/** Users outlive their requests: those of certificates and of this process are the same objects again and again. */
function userText(user: User): string {
  let text = userTexts.get(user);
  if (text === undefined) {
    const { name, uid, groups, extra } = user;
    text = JSON.stringify({ username: name, ...(uid ? { uid } : {}), groups, ...(extra ? { extra } : {}) });
    userTexts.set(user, text);
  }
  return text;
}

function objectReference(info: ResourceRequestInfo, created: NewMetadata | undefined): string {
  return (
    `{"resource":${quoted(info.resource)}` +
    field('namespace', info.namespace) +
    field('name', info.name || (created?.name ?? '')) +
    field('uid', created?.uid ?? '') +
    field('apiGroup', info.group) +
    field('apiVersion', info.version) +
    field('resourceVersion', created?.resourceVersion ?? '') +
    field('subresource', info.subresource) +
    '}'
  );
}

/** Empty texts are left out. */
function field(name: string, text: string): string {
  return text === '' ? '' : `,"${name}":${quoted(text)}`;
}

/** What a create has given the object. */
function createdMetadata(result: ObservedResult, answered: JsonObject | undefined): NewMetadata | undefined {
  if (!isCreated(result)) return undefined;
  if (answered) {
    const metadata = answered['metadata'];
    const text = (name: string): string => textOf(isJsonObject(metadata) ? metadata[name] : undefined);
    return { name: text('name'), uid: text('uid'), resourceVersion: text('resourceVersion') };
  }
  const { body } = result.response;
  const [first] = body.kind === 'bytes' ? body.chunks : [];
  return first && readProtobufMetadata(first);
}

function responseStatus({ status }: ApiResponse, answered: JsonObject | undefined): string {
  if (status < 400 || answered?.['kind'] !== 'Status') return `{"metadata":{},"code":${status}}`;
  const { message, reason, details } = answered;
  return JSON.stringify({ metadata: {}, status: 'Failure', message, reason, details, code: status });
}

function bodies(record: AuditRecord, answered: JsonObject | undefined): string {
  const { level, requestBody } = record;
  if (level !== 'Request' && level !== 'RequestResponse') return '';
  const sent = requestBody && parsed(requestBody);
  const request = sent ? `,"requestObject":${bodyText(sent, record)}` : '';
  if (level !== 'RequestResponse' || !answered) return request;
  return `${request},"responseObject":${bodyText(answered, record)}`;
}

function bodyText(body: JsonObject, { omitManagedFields }: AuditRecord): string {
  if (!omitManagedFields) return JSON.stringify(body);
  return JSON.stringify(body, (key, value: JsonValue) =>
    key === 'metadata' ? withoutBookings(value) : value,
  );
}

/** Of the object, of those in a list, and of templates, which have none. */
function withoutBookings(metadata: JsonValue): JsonValue {
  if (!isJsonObject(metadata)) return metadata;
  const { managedFields: _, ...kept } = metadata;
  return kept;
}

/** Read only where something of it is wanted: the name that a create was given, the text of a failure, the body itself. */
function answeredObject({ result, level }: AuditRecord): JsonObject | undefined {
  const { response } = result;
  const isWanted = level === 'RequestResponse' || response.status >= 400 || isCreated(result);
  if (!isWanted || response.body.kind !== 'bytes') return undefined;
  if (response.headers['content-type'] !== 'application/json') return undefined;
  const [first] = response.body.chunks;
  return response.body.chunks.length === 1 && first ? parsed(first) : undefined;
}

function isCreated({ info, response }: ObservedResult): boolean {
  return info.isResource && info.name === '' && response.status === 201;
}

function parsed(bytes: Uint8Array): JsonObject | undefined {
  if (bytes.length === 0 || bytes.length > bodyLimitBytes) return undefined;
  try {
    const value = JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    // YAML, protobuf and whatever cannot be read is not shown.
    return undefined;
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The newest second as text; many events share it. */
const shown = { second: Number.NaN, text: '' };

function microTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== shown.second) {
    shown.second = second;
    shown.text = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
  }
  return `${shown.text}${String(Math.floor(milliseconds - second * 1000)).padStart(3, '0')}000Z`;
}
