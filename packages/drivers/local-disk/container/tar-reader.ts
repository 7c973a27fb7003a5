import { SourceFault } from '../http-source.ts';
import { ByteReader } from './byte-reader.ts';

export interface TarEntry {
  /** Without a `/` or `./` before it and a `/` behind it; `undefined` when it leads outside. */
  readonly path: string | undefined;
  readonly kind: 'file' | 'directory' | 'link' | 'sparse' | 'other';
  readonly bytes: number;
  /** Read at most once, before the next entry is asked for. */
  content(): AsyncIterable<Uint8Array>;
}

const blockBytes = 512;
/** For names and attributes that do not fit into a header. */
const longestNote = 1024 * 1024;
const mostEntries = 1_000_000;

interface Notes {
  path?: string;
  bytes?: number;
  isSparse?: boolean;
}

/** Reads a tar archive as it comes, and writes nothing. @throws SourceFault when it is damaged */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(chunks);
  let notes: Notes = {};
  for (let count = 0; ; count++) {
    if (count > mostEntries) throw new SourceFault(`an archive in it has more than ${mostEntries} entries`);
    const header = await reader.read(blockBytes);
    if (header.every((byte) => byte === 0)) return;
    checkHeader(header);
    const bytes = notes.bytes ?? numberAt(header, 124, 12);
    const type = textAt(header, 156, 1);
    if (isNote(type)) {
      notes = { ...notes, ...(await readNote(reader, type, bytes)) };
      continue;
    }
    const end = reader.position + padded(bytes);
    yield entryOf(header, { type, bytes, notes }, () => reader.stream(bytes));
    await reader.skip(end - reader.position);
    notes = {};
  }
}

function isNote(type: string): boolean {
  return type === 'x' || type === 'g' || type === 'L' || type === 'K';
}

async function readNote(reader: ByteReader, type: string, bytes: number): Promise<Notes> {
  if (bytes > longestNote) throw new SourceFault('an archive in it has a name of more than 1 MiB');
  const content = await reader.read(bytes);
  if (content.length < bytes) throw new SourceFault('an archive in it ends too early');
  await reader.skip(padded(bytes) - bytes);
  if (type === 'L') return { path: content.toString('utf8').replace(/\0.*$/s, '') };
  return type === 'x' ? paxNotes(content) : {};
}

/** Lines of `LENGTH NAME=VALUE`. */
function paxNotes(content: Buffer): Notes {
  const notes: Notes = {};
  let start = 0;
  while (start < content.length) {
    const space = content.indexOf(0x20, start);
    const length = Number(content.toString('latin1', start, Math.max(start, space)));
    const isWhole = Number.isInteger(length) && start + length <= content.length;
    if (space < 0 || !isWhole || length <= space - start)
      throw new SourceFault('an archive in it has attributes that cannot be read');
    const line = content.toString('utf8', space + 1, start + length - 1);
    takeAttribute(notes, line);
    start += length;
  }
  return notes;
}

function takeAttribute(notes: Notes, line: string): void {
  const end = line.indexOf('=');
  const [name, value] = [line.slice(0, end), line.slice(end + 1)];
  if (name === 'path') notes.path = value;
  if (name === 'size') notes.bytes = checkedNumber(Number(value));
  if (name.startsWith('GNU.sparse.')) notes.isSparse = true;
}

function entryOf(
  header: Buffer,
  { type, bytes, notes }: { readonly type: string; readonly bytes: number; readonly notes: Notes },
  content: () => AsyncIterable<Uint8Array>,
): TarEntry {
  const prefix = textAt(header, 257, 6).startsWith('ustar\0') ? textAt(header, 345, 155) : '';
  const short = textAt(header, 0, 100);
  const path = notes.path ?? (prefix === '' ? short : `${prefix}/${short}`);
  return { path: insidePath(path), kind: notes.isSparse ? 'sparse' : kindOf(type), bytes, content };
}

function kindOf(type: string): TarEntry['kind'] {
  if (type === '0' || type === '' || type === '7') return 'file';
  if (type === '1' || type === '2') return 'link';
  if (type === 'S') return 'sparse';
  return type === '5' ? 'directory' : 'other';
}

/** A path within the root of an image; `undefined`: it climbs out of it. */
export function insidePath(path: string): string | undefined {
  const words = path.split('/').filter((word) => word !== '' && word !== '.');
  return words.includes('..') ? undefined : words.join('/');
}

function checkHeader(header: Buffer): void {
  if (header.length < blockBytes) throw new SourceFault('an archive in it ends too early');
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  if (sum !== numberAt(header, 148, 8)) throw new SourceFault('an archive in it is damaged');
}

/** Octal digits, or, with the first bit set, a binary number. */
function numberAt(header: Buffer, offset: number, length: number): number {
  const first = header[offset] ?? 0;
  if (first >= 0x80) return checkedNumber(binaryAt(header, offset, length));
  const text = textAt(header, offset, length).trim();
  return text === '' ? 0 : checkedNumber(/^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN);
}

function binaryAt(header: Buffer, offset: number, length: number): number {
  let value = (header[offset] ?? 0) & 0x7f;
  for (const byte of header.subarray(offset + 1, offset + length)) value = value * 256 + byte;
  return value;
}

function checkedNumber(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new SourceFault('an archive in it has a number that cannot be read');
}

function textAt(header: Buffer, offset: number, length: number): string {
  return header.toString('utf8', offset, offset + length).replace(/\0.*$/s, '');
}

function padded(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}
