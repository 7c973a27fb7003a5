import { badRequest, type JsonObject, type StatusError } from '@sheaf/base';
import type { GoStruct } from '../builtin/go-type.ts';
import { findGoKind } from '../builtin/kinds.ts';
import { type GroupVersionKind, parseApiVersion } from '../meta/object.ts';
import { MessageDecoder } from './decode-message.ts';
import { encodeStruct, ShapeError } from './encode-message.ts';
import { WireError, WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

export interface DecodedEnvelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** What Go would write of it as JSON, with apiVersion and kind; it is conformed already. */
  readonly object: JsonObject;
}

/** What a body without a kind of its own is taken for, and how errors name what was asked for. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

const prefix = [0x6b, 0x38, 0x73, 0x00];
const prefixText = '[107 56 115 0]';

/** True where a kind has a protobuf form: all built-in kinds but Table. */
export function hasProtobuf(gvk: GroupVersionKind): boolean {
  return (findGoKind(gvk)?.protoFields.length ?? 0) > 0;
}

/** Reads `k8s\0` and the message after it. Throws 400 BadRequest for anything malformed. */
export function decodeEnvelope(bytes: Uint8Array, expected?: ExpectedKind): DecodedEnvelope {
  let seen = expected;
  try {
    const parts = readUnknown(bytes);
    const apiVersion = parts.apiVersion || expected?.apiVersion || '';
    const kind = parts.kind || expected?.kind || '';
    seen = { apiVersion, kind };
    const struct = structOf(apiVersion, kind);
    const reader = new WireReader(parts.raw);
    const decoded = new MessageDecoder(reader).struct(struct, reader.length);
    return { apiVersion, kind, object: withKind(seen, decoded) };
  } catch (error) {
    if (error instanceof WireError) throw refusal(error, seen);
    throw error;
  }
}

function refusal(error: WireError, seen: ExpectedKind | undefined): StatusError {
  if (seen === undefined || seen.kind === '') return badRequest(error.message, error);
  const { version } = parseApiVersion(seen.apiVersion);
  const what = `${seen.kind} in version ${JSON.stringify(version)} cannot be handled as a ${seen.kind}`;
  return badRequest(`${what}: ${error.message}`, error);
}

function structOf(apiVersion: string, kind: string): GoStruct {
  const struct = findGoKind({ ...parseApiVersion(apiVersion), kind });
  if (struct !== undefined && struct.protoFields.length > 0) return struct;
  const shown = apiVersion.includes('/') ? apiVersion : JSON.stringify(apiVersion);
  throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${shown}`);
}

/** Kind and version come first, as Go writes them. */
function withKind({ apiVersion, kind }: ExpectedKind, object: JsonObject): JsonObject {
  return { kind, apiVersion, ...object };
}

interface Unknown {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
}

/** `runtime.Unknown`: type, raw message, content encoding and type. */
function readUnknown(bytes: Uint8Array): Unknown {
  if (bytes.length === 0) throw new WireError('empty data');
  if (prefix.some((byte, index) => bytes[index] !== byte)) {
    throw new WireError(
      `provided data does not appear to be a protobuf message, expected prefix ${prefixText}`,
    );
  }
  const reader = new WireReader(bytes);
  const end = reader.length;
  const found: Unknown = { apiVersion: '', kind: '', raw: new Uint8Array() };
  reader.position = prefix.length;
  while (reader.position < end) {
    const tag = reader.uint32(end);
    if (tag === 10) readTypeMeta(reader, reader.lengthEnd(end), found);
    else if (tag === 18) found.raw = reader.bytes(end);
    else if (tag >>> 3 === 0) throw new WireError(`proto: Unknown: illegal tag 0 (wire type ${tag})`);
    else reader.skip(tag & 7, end);
  }
  return found;
}

function readTypeMeta(reader: WireReader, end: number, into: Unknown): void {
  while (reader.position < end) {
    const tag = reader.uint32(end);
    if (tag === 10) into.apiVersion = reader.string(end);
    else if (tag === 18) into.kind = reader.string(end);
    else reader.skip(tag & 7, end);
  }
}

const writer = new WireWriter();

/** The envelope of an object of a built-in kind (see `hasProtobuf`), whose apiVersion and kind must be set. */
export function encodeEnvelope(object: JsonObject): Uint8Array {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new ShapeError('object without a kind');
  const struct = structOf(apiVersion, kind);
  writer.reset();
  writer.string('');
  writer.tag(4, 2);
  writer.string('');
  writer.tag(3, 2);
  const start = writer.mark;
  encodeStruct(writer, struct, object);
  writer.varint(writer.mark - start);
  writer.tag(2, 2);
  const typeStart = writer.mark;
  writer.string(kind);
  writer.tag(2, 2);
  writer.string(apiVersion);
  writer.tag(1, 2);
  writer.varint(writer.mark - typeStart);
  writer.tag(1, 2);
  writer.raw(Uint8Array.from(prefix));
  return writer.finish();
}

/** One frame of a watch stream: four bytes of length, then a bare WatchEvent around an envelope made once for all. */
export function watchFrame(type: string, envelope: Uint8Array): Uint8Array {
  writer.reset();
  writer.bytes(envelope);
  writer.tag(1, 2);
  writer.varint(writer.mark);
  writer.tag(2, 2);
  writer.string(type);
  writer.tag(1, 2);
  const length = writer.mark;
  writer.raw(Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length));
  return writer.finish();
}

/** The event of a frame without its four bytes of length. Throws 400 BadRequest for anything malformed. */
export function decodeWatchEvent(frame: Uint8Array): {
  readonly type: string;
  readonly event: DecodedEnvelope;
} {
  try {
    const { type, raw } = readWatchEvent(frame);
    return { type, event: decodeEnvelope(raw) };
  } catch (error) {
    if (error instanceof WireError) throw badRequest(error.message, error);
    throw error;
  }
}

function readWatchEvent(frame: Uint8Array): { type: string; raw: Uint8Array } {
  const reader = new WireReader(frame);
  const end = reader.length;
  let type = '';
  let raw: Uint8Array = new Uint8Array();
  while (reader.position < end) {
    const tag = reader.uint32(end);
    if (tag === 10) type = reader.string(end);
    else if (tag === 18) raw = readRaw(reader, reader.lengthEnd(end));
    else reader.skip(tag & 7, end);
  }
  return { type, raw };
}

function readRaw(reader: WireReader, end: number): Uint8Array {
  let raw: Uint8Array = new Uint8Array();
  while (reader.position < end) {
    const tag = reader.uint32(end);
    if (tag === 10) raw = reader.bytes(end);
    else reader.skip(tag & 7, end);
  }
  return raw;
}
