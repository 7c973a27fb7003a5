import { asJson, type KubeObject } from '@sheaf/api';
import { StoreFault } from '@sheaf/store';

/**
 * How objects lie in the store and in memory: JSON that begins with kind, apiVersion and metadata in this order, so that
 * the resourceVersion, the apiVersion and the list form are made by joining bytes instead of by parsing. The kept bytes
 * are the store's own: the resourceVersion is put in when they are sent.
 *
 *   stored: {"kind":K,"apiVersion":V,"metadata":{…                          no resourceVersion: the store gives it
 *   served: {"kind":K,"apiVersion":V,"metadata":{"resourceVersion":"N",…
 *   item:   {"metadata":{"resourceVersion":"N",…                            inside a list of a built-in kind
 */

const metadataMark = Buffer.from('"metadata":{');
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const longestRevisionMark = '"resourceVersion":"9007199254740991",'.length;

/** The bytes to keep. `metadata.resourceVersion` of `object` is left out. */
export function toStoredBytes(object: KubeObject): Buffer {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = metadata;
  const text = JSON.stringify({ kind, apiVersion, metadata: kept, ...rest });
  // Memory of its own: in a shared pool one kept object would hold its passing neighbours.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, 'utf8'));
  bytes.write(text, 0, 'utf8');
  return bytes;
}

/** With the revision under which `stored` was committed. */
export function toServedBytes(stored: Uint8Array, revision: number): Buffer {
  const start = metadataStart(stored);
  const mark = revisionMark(revision);
  const served = Buffer.allocUnsafe(stored.length + mark.length);
  served.set(stored.subarray(0, start), 0);
  served.write(mark, start, 'latin1');
  served.set(stored.subarray(start), start + mark.length);
  return served;
}

/** The object in another version of the same shape: only the apiVersion is another. */
export function withHead(served: Uint8Array, kind: string, apiVersion: string): Buffer {
  const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`;
  return Buffer.concat([Buffer.from(head), served.subarray(metadataStart(served))]);
}

/** The object as an item of a built-in kind's list: without kind, apiVersion and the opening brace. */
export function itemTail(served: Uint8Array): Uint8Array {
  return served.subarray(metadataStart(served) - metadataMark.length);
}

/** The most that `writeItem` needs. */
export function itemLimit(stored: Uint8Array): number {
  return stored.length + longestRevisionMark;
}

export interface ItemForm {
  readonly stored: Uint8Array;
  readonly revision: number;
  /** True: kind and apiVersion are left out. */
  readonly isBare: boolean;
}

/** Writes what is served of `stored` into a list at `at`; returns where it ends. */
export function writeItem(target: Buffer, at: number, { stored, revision, isBare }: ItemForm): number {
  const start = metadataStart(stored);
  let from = 0;
  let end = at;
  if (isBare) {
    target[end++] = openBrace;
    from = start - metadataMark.length;
  }
  target.set(stored.subarray(from, start), end);
  end += start - from;
  end += target.write(revisionMark(revision), end, 'latin1');
  target.set(stored.subarray(start), end);
  return end + stored.length - start;
}

/** `{…}`: the metadata with its resourceVersion, without parsing anything. */
export function metadataText(stored: Uint8Array, revision: number): string {
  const start = metadataStart(stored);
  const rest = asBuffer(stored).toString('utf8', start, objectEnd(stored, start));
  return `{${revisionMark(revision)}${rest}`;
}

export function parseStored(stored: Uint8Array, revision: number): KubeObject {
  const object = JSON.parse(asBuffer(stored).toString('utf8')) as KubeObject;
  object.metadata.resourceVersion = String(revision);
  return object;
}

/** An object that is made for one answer and not kept, e.g. of a dry run. */
export function toFreshBytes(object: KubeObject): Buffer {
  const { kind, apiVersion, metadata, ...rest } = asJson(object);
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata, ...rest }), 'utf8');
}

function revisionMark(revision: number): string {
  return `"resourceVersion":"${revision}",`;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Where the fields of the metadata begin. Found by the known head; searching costs several times as much. */
function metadataStart(bytes: Uint8Array): number {
  // {"kind":"K","apiVersion":"V","metadata":{
  const kindEnd = textEnd(bytes, 9);
  const start = textEnd(bytes, kindEnd + 16) + 2 + metadataMark.length;
  return isMetadataAt(bytes, start) ? start : searchedStart(bytes);
}

function isMetadataAt(bytes: Uint8Array, start: number): boolean {
  const from = start - metadataMark.length;
  for (let index = 0; index < metadataMark.length; index++)
    if (bytes[from + index] !== metadataMark[index]) return false;
  return true;
}

function searchedStart(bytes: Uint8Array): number {
  const at = asBuffer(bytes).indexOf(metadataMark);
  if (at < 0)
    throw new StoreFault('corrupt', 'a stored object has no metadata', 'Restore the newest backup.');
  return at + metadataMark.length;
}

/** The index of the quote that ends the text around `index`, or the end of the bytes. */
function textEnd(bytes: Uint8Array, index: number): number {
  let end = index;
  while (end < bytes.length && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1;
  return end;
}

/** Behind the brace that closes the object whose fields begin at `start`. */
function objectEnd(bytes: Uint8Array, start: number): number {
  let depth = 1;
  let index = start;
  while (depth > 0 && index < bytes.length) {
    const byte = bytes[index++];
    if (byte === quote) index = textEnd(bytes, index) + 1;
    else if (byte === openBrace) depth++;
    else if (byte === closeBrace) depth--;
  }
  return index;
}
