import { gunzipSync } from 'node:zlib';
import { decodeEnvelope } from '@sheaf/api';
import { parse } from 'yaml';
import type { RawAnswer } from './send.ts';

/** An answer as it is compared. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON value, a text, or a list of watch events. */
  readonly body?: unknown;
}

const comparedHeaders = [
  'content-type',
  'warning',
  'retry-after',
  'etag',
  'cache-control',
  'vary',
  'location',
  'allow',
  'content-encoding',
  'x-content-type-options',
  'www-authenticate',
];

/** Reads the body by its type; headers that clients do not look at are left out. */
export function readAnswer(raw: RawAnswer): Answer {
  const headers: Record<string, string> = {};
  for (const name of comparedHeaders) {
    const value = raw.headers[name];
    if (value === undefined) continue;
    headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  // Nearly every answer has it: only what differs is worth a line.
  if (headers['cache-control'] === 'no-cache, private') delete headers['cache-control'];
  else headers['cache-control'] ??= 'none';
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(raw.body) : raw.body;
  const body = bytes.length === 0 ? undefined : readBody(bytes, headers['content-type'] ?? '');
  return { status: raw.status, headers, ...(body === undefined ? {} : { body }) };
}

function readBody(bytes: Buffer, type: string): unknown {
  if (type.startsWith('application/vnd.kubernetes.protobuf;stream=watch')) return protobufFrames(bytes);
  if (type.startsWith('application/vnd.kubernetes.protobuf')) return decodeEnvelope(bytes).object;
  if (type.startsWith('application/yaml')) return parse(bytes.toString('utf8'));
  const text = bytes.toString('utf8');
  return type.startsWith('application/json') || /^[{[]/.test(text) ? readJson(text) : text;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The events of a watch, from what has come so far. */
export function readEvents(bytes: Buffer, type: string): readonly unknown[] {
  if (type.startsWith('application/vnd.kubernetes.protobuf')) return protobufFrames(bytes);
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(readJson);
}

/** Frames of a length and a WatchEvent: field 1 is the type, field 2 a RawExtension whose field 1 is an envelope. */
function protobufFrames(bytes: Buffer): readonly unknown[] {
  const events: unknown[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    if (at + 4 + length > bytes.length) break;
    const fields = lengthDelimited(bytes.subarray(at + 4, at + 4 + length));
    const envelope = lengthDelimited(fields.get(2) ?? Buffer.alloc(0)).get(1) ?? Buffer.alloc(0);
    events.push({ type: fields.get(1)?.toString('utf8'), object: decodeEnvelope(envelope).object });
    at += 4 + length;
  }
  return events;
}

function lengthDelimited(bytes: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const length = varint();
    fields.set(tag >>> 3, bytes.subarray(at, at + length));
    at += length;
  }
  return fields;
}
