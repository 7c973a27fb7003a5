import type { NameRecord } from '@sheaf/ports';
import type { Query } from './message-reader.ts';
import { internetClass, optionType, type ResponseCode, typeNumbers } from './record-types.ts';

export interface Reply {
  readonly code: ResponseCode;
  /** It comes from who is in charge of the name. */
  readonly isOwn: boolean;
  readonly records: readonly NameRecord[];
  /** Who is in charge, where there are no records. */
  readonly authority?: readonly NameRecord[];
  readonly further?: readonly NameRecord[];
}

/** How long an answer may be kept, in seconds: what pods and Services are called changes at any time. */
const lifeSeconds = 5;
const soaSeconds = { refresh: 7200, retry: 1800, expire: 86_400 } as const;
const ownSize = 1232;
const smallest = 512;
const flags = { response: 0x8000, own: 0x0400, cut: 0x0200, wanted: 0x0100, offered: 0x0080 } as const;

/** The longest answer to a question that came over UDP. */
export function longestReply({ size }: Query): number {
  return size === undefined ? smallest : Math.max(smallest, Math.min(size, ownSize));
}

/** Longer than `limit`: only that it is too long, so that it is asked for over TCP. */
export function writeReply(query: Query, reply: Reply, limit: number): Buffer {
  const whole = compose(query, reply, false);
  if (whole.length <= limit) return whole;
  const bare = compose(query, { ...reply, further: [] }, false);
  return bare.length <= limit
    ? bare
    : compose(query, { ...reply, records: [], authority: [], further: [] }, true);
}

/** Says that a message could not be read or is not understood. */
export function writeFailure(id: number, code: ResponseCode): Buffer {
  const message = Buffer.alloc(12);
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(flags.response | code, 2);
  return message;
}

/** A question for the resolvers of this host. */
export function writeQuery(id: number, name: string, type: number): Buffer {
  const writer = new MessageWriter();
  for (const value of [id, flags.wanted, 1, 0, 0, 0]) writer.number(value);
  writer.name(name);
  writer.number(type);
  writer.number(internetClass);
  return writer.message();
}

function compose(query: Query, reply: Reply, isCut: boolean): Buffer {
  const { records, authority = [], further = [] } = reply;
  const writer = new MessageWriter();
  const hasOptions = query.size !== undefined;
  const words =
    flags.response |
    flags.offered |
    (reply.isOwn ? flags.own : 0) |
    (isCut ? flags.cut : 0) |
    (query.isRecursionWanted ? flags.wanted : 0) |
    reply.code;
  const counts = [1, records.length, authority.length, further.length + (hasOptions ? 1 : 0)];
  for (const value of [query.id, words, ...counts]) writer.number(value);
  writer.name(query.spelling);
  writer.number(query.typeNumber);
  writer.number(query.class);
  for (const record of [...records, ...authority, ...further]) writer.record(record);
  if (hasOptions) writer.options();
  return writer.message();
}

class MessageWriter {
  readonly #parts: Buffer[] = [];
  readonly #known = new Map<string, number>();
  #length = 0;

  message(): Buffer {
    return Buffer.concat(this.#parts);
  }

  number(value: number): void {
    const part = Buffer.alloc(2);
    part.writeUInt16BE(value);
    this.#add(part);
  }

  /** What was written before is pointed to. */
  name(name: string): void {
    const labels = name === '' ? [] : name.split('.');
    for (const [index, label] of labels.entries()) {
      const rest = labels.slice(index).join('.');
      const before = this.#known.get(rest);
      if (before !== undefined) return this.number(0xc000 | before);
      if (this.#length < 0x4000) this.#known.set(rest, this.#length);
      this.#label(label);
    }
    this.#add(Buffer.of(0));
  }

  options(): void {
    this.#add(Buffer.of(0));
    for (const value of [optionType, ownSize, 0, 0, 0]) this.number(value);
  }

  record(record: NameRecord): void {
    this.name(record.name);
    this.number(typeNumbers[record.type]);
    this.number(internetClass);
    this.#add(Buffer.of(0, 0, 0, lifeSeconds));
    const length = Buffer.alloc(2);
    this.#add(length);
    const start = this.#length;
    this.#data(record);
    length.writeUInt16BE(this.#length - start);
  }

  #data(record: NameRecord): void {
    switch (record.type) {
      case 'A':
        return this.#add(Buffer.from(record.address.split('.').map(Number)));
      case 'AAAA':
        return this.#numbers(groupsOf(record.address));
      case 'CNAME':
      case 'PTR':
      case 'NS':
        return this.name(record.target);
      case 'SRV':
        this.#numbers([0, record.weight, record.port]);
        return this.#plainName(record.target);
      case 'TXT':
        return this.#label(record.text);
      case 'SOA':
        return this.#authority(record);
      default:
        record satisfies never;
    }
  }

  #numbers(values: readonly number[]): void {
    for (const value of values) this.number(value);
  }

  #authority({ server, mailbox, serial }: Extract<NameRecord, { type: 'SOA' }>): void {
    this.name(server);
    this.name(mailbox);
    for (const value of [serial, ...Object.values(soaSeconds), lifeSeconds]) {
      const part = Buffer.alloc(4);
      part.writeUInt32BE(value);
      this.#add(part);
    }
  }

  /** Old clients do not follow pointers here. */
  #plainName(name: string): void {
    for (const label of name.split('.')) this.#label(label);
    this.#add(Buffer.of(0));
  }

  #label(text: string): void {
    const bytes = Buffer.from(text, 'latin1').subarray(0, 255);
    this.#add(Buffer.concat([Buffer.of(bytes.length), bytes]));
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#length += part.length;
  }
}

function groupsOf(address: string): readonly number[] {
  const [before = '', after] = address.split('::');
  const read = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [head, tail] = [read(before), read(after)];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}
