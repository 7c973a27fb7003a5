import type { NameRecord } from '@sheaf/ports';
import { internetClass, optionType, typeName } from './record-types.ts';

/** A question as it came. */
export interface Query {
  readonly id: number;
  /** In lower case. */
  readonly name: string;
  /** As it was written. */
  readonly spelling: string;
  readonly type: string;
  readonly typeNumber: number;
  readonly class: number;
  readonly isRecursionWanted: boolean;
  /** The longest answer over UDP that it takes; absent if it does not say. */
  readonly size: number | undefined;
}

/** What cannot be read, and how to say so; with no id, nobody can be told. */
export class MalformedMessage extends Error {
  readonly id: number | undefined;
  readonly isNotImplemented: boolean;

  constructor(
    words: string,
    { id, isNotImplemented = false }: { id?: number; isNotImplemented?: boolean } = {},
  ) {
    super(words);
    this.id = id;
    this.isNotImplemented = isNotImplemented;
  }
}

const headerLength = 12;
/** Of the flags. */
const isResponse = 0x8000;
const operation = 0x7800;
const wantsRecursion = 0x0100;
const mostJumps = 32;
const longestName = 255;

/** @throws MalformedMessage */
export function readQuery(message: Buffer): Query {
  if (message.length < headerLength) throw new MalformedMessage('it is too short');
  const id = message.readUInt16BE(0);
  const flags = message.readUInt16BE(2);
  // Answering an answer would go on for ever.
  if ((flags & isResponse) !== 0) throw new MalformedMessage('it is an answer');
  if ((flags & operation) !== 0)
    throw new MalformedMessage('it is no question', { id, isNotImplemented: true });
  try {
    if (message.readUInt16BE(4) !== 1) throw new MalformedMessage('it has not one question');
    const reader = new MessageReader(message, headerLength);
    const spelling = reader.name();
    const [typeNumber, recordClass] = [reader.number(), reader.number()];
    return {
      id,
      name: spelling.toLowerCase(),
      spelling,
      type: typeName(typeNumber),
      typeNumber,
      class: recordClass,
      isRecursionWanted: (flags & wantsRecursion) !== 0,
      size: sizeOf(reader, countOf(message)),
    };
  } catch (error) {
    throw new MalformedMessage(error instanceof Error ? error.message : '', { id });
  }
}

/** Whether it answers a message with this id and question. */
export function isAnswerTo(answer: Buffer, query: Buffer): boolean {
  if (answer.length < headerLength || answer.readUInt16BE(0) !== query.readUInt16BE(0)) return false;
  if ((answer.readUInt16BE(2) & isResponse) === 0) return false;
  if (answer.readUInt16BE(4) === 0) return true;
  try {
    const [own, other] = [new MessageReader(query, headerLength), new MessageReader(answer, headerLength)];
    return own.name().toLowerCase() === other.name().toLowerCase() && own.number() === other.number();
  } catch {
    // It cannot be read, so it is none.
    return false;
  }
}

/** What an answer says: its code, and those of its records that have an address or lead on. @throws MalformedMessage */
export function readAnswer(message: Buffer): {
  readonly code: number;
  readonly records: readonly NameRecord[];
} {
  const reader = new MessageReader(message, headerLength);
  for (let left = message.readUInt16BE(4); left > 0; left--) {
    reader.name();
    reader.skip(4);
  }
  const records: NameRecord[] = [];
  for (let left = message.readUInt16BE(6); left > 0; left--) {
    const record = reader.record();
    if (record) records.push(record);
  }
  return { code: message.readUInt16BE(2) & 0xf, records };
}

function countOf(message: Buffer): number {
  return message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
}

function sizeOf(reader: MessageReader, count: number): number | undefined {
  for (let left = count; left > 0; left--) {
    reader.name();
    const [type, size] = [reader.number(), reader.number()];
    reader.skip(4);
    reader.skip(reader.number());
    if (type === optionType) return size;
  }
  return undefined;
}

/** Every read is within the message, and ends. */
class MessageReader {
  readonly #message: Buffer;
  #offset: number;

  constructor(message: Buffer, offset: number) {
    this.#message = message;
    this.#offset = offset;
  }

  number(): number {
    this.skip(2);
    return this.#message.readUInt16BE(this.#offset - 2);
  }

  skip(length: number): void {
    this.#offset += length;
    if (this.#offset > this.#message.length) throw new MalformedMessage('it ends too early');
  }

  /** `undefined`: of a type that nobody looks at. */
  record(): NameRecord | undefined {
    const name = this.name().toLowerCase();
    const [type, recordClass] = [typeName(this.number()), this.number()];
    this.skip(4);
    const length = this.number();
    const start = this.#offset;
    this.skip(length);
    if (recordClass !== internetClass) return undefined;
    const data = this.#message.subarray(start, this.#offset);
    if (type === 'A' && length === 4) return { name, type, address: data.join('.') };
    if (type === 'AAAA' && length === 16) return { name, type, address: hexGroups(data) };
    if (type !== 'CNAME') return undefined;
    return { name, type, target: new MessageReader(this.#message, start).name() };
  }

  /** Follows pointers back to names before it. */
  name(): string {
    const labels: string[] = [];
    let [at, length, end] = [this.#offset, 0, -1];
    for (let jumps = 0; jumps <= mostJumps; ) {
      const size = this.#byte(at);
      if (size === 0) {
        this.#offset = end < 0 ? at + 1 : end;
        return labels.join('.');
      }
      if ((size & 0xc0) === 0xc0) {
        if (end < 0) end = at + 2;
        at = ((size & 0x3f) << 8) | this.#byte(at + 1);
        jumps++;
        continue;
      }
      length += size + 1;
      if (size > 63 || length > longestName || at + 1 + size > this.#message.length)
        throw new MalformedMessage('a name is too long');
      labels.push(this.#message.toString('latin1', at + 1, at + 1 + size));
      at += size + 1;
    }
    throw new MalformedMessage('a name leads in circles');
  }

  #byte(at: number): number {
    const value = this.#message[at];
    if (value === undefined) throw new MalformedMessage('it ends too early');
    return value;
  }
}

function hexGroups(data: Buffer): string {
  return Array.from({ length: 8 }, (_, index) => data.readUInt16BE(index * 2).toString(16)).join(':');
}
