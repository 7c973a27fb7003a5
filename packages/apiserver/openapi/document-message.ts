import { WireWriter } from '@sheaf/api/protobuf/wire-writer';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';

/** Writes a JSON value as one field, with its tag. Everything is written from its end to its front. */
export type FieldWriter = (wire: WireWriter, number: number, value: JsonValue) => void;

/** Writes what a message holds, without a prefix. */
export type MessageWriter = (wire: WireWriter, value: JsonValue) => void;

const lengthDelimited = 2;

export function encodeDocument(message: MessageWriter, document: JsonObject): Uint8Array {
  const wire = new WireWriter();
  message(wire, document);
  return wire.finish();
}

export const string: FieldWriter = (wire, number, value) => {
  wire.string(typeof value === 'string' ? value : JSON.stringify(value));
  wire.tag(number, lengthDelimited);
};

export const boolean: FieldWriter = (wire, number, value) => {
  wire.varint(value === true ? 1 : 0);
  wire.tag(number, 0);
};

export const integer: FieldWriter = (wire, number, value) => {
  wire.varint(Math.trunc(Number(value)));
  wire.tag(number, 0);
};

export const double: FieldWriter = (wire, number, value) => {
  wire.double(Number(value));
  wire.tag(number, 1);
};

/** Values of any form are text inside a message: YAML, of which JSON is a part. */
export const any: FieldWriter = (wire, number, value) =>
  enclosed(wire, number, () => string(wire, 2, JSON.stringify(value)));

export function enclosed(wire: WireWriter, number: number, body: () => void): void {
  const start = wire.mark;
  body();
  wire.varint(wire.mark - start);
  wire.tag(number, lengthDelimited);
}

/** A message in a field. Its writer is given by a function, as messages refer to each other in circles. */
export function nested(message: () => MessageWriter): FieldWriter {
  return (wire, number, value) => enclosed(wire, number, () => message()(wire, value));
}

export function repeated(write: FieldWriter): FieldWriter {
  return (wire, number, value) => {
    if (!Array.isArray(value)) return;
    for (let index = value.length - 1; index >= 0; index--) write(wire, number, value[index] ?? null);
  };
}

/** A JSON object as repeated pairs of a name and a message. */
export function pairs(number: number, write: FieldWriter): MessageWriter {
  return (wire, value) => {
    if (!isJsonObject(value)) return;
    for (const name of Object.keys(value).reverse()) pair(wire, number, { name, value: value[name], write });
  };
}

interface Pair {
  readonly name: string;
  readonly value: JsonValue | undefined;
  readonly write: FieldWriter;
}

function pair(wire: WireWriter, number: number, { name, value, write }: Pair): void {
  enclosed(wire, number, () => {
    if (value !== undefined) write(wire, 2, value);
    string(wire, 1, name);
  });
}

/** Fields by their JSON name. */
export type Fields = Readonly<Record<string, readonly [number: number, write: FieldWriter]>>;

/** A message with the given fields; keys that begin with `x-` become pairs in the field `extensions`. */
export function message(fields: Fields, extensions = 0): MessageWriter {
  const ordered = Object.entries(fields).sort(([, [a]], [, [b]]) => b - a);
  return (wire, value) => {
    if (!isJsonObject(value)) return;
    if (extensions > 0) writeExtensions(wire, extensions, value);
    for (const [key, [number, write]] of ordered) {
      const part = Object.hasOwn(value, key) ? value[key] : undefined;
      if (part !== undefined && part !== null) write(wire, number, part);
    }
  };
}

function writeExtensions(wire: WireWriter, number: number, value: JsonObject): void {
  for (const name of Object.keys(value).reverse()) {
    if (name.startsWith('x-')) pair(wire, number, { name, value: value[name], write: any });
  }
}

/** Either `part` or, where the value has a `$ref`, a reference in the second field. */
export function referenceOr(part: FieldWriter): MessageWriter {
  return (wire, value) => {
    const target = isJsonObject(value) ? value['$ref'] : undefined;
    if (typeof target !== 'string') return part(wire, 1, value);
    enclosed(wire, 2, () => string(wire, 1, target));
  };
}
