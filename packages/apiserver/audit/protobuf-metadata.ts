/** What an audit event tells of a new object. */
export interface NewMetadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

const magic = Buffer.from('k8s\u0000');
const nothing: NewMetadata = { name: '', uid: '', resourceVersion: '' };

/** From an object in Kubernetes' protobuf envelope; empty texts where there is nothing to be read. */
export function readProtobufMetadata(bytes: Uint8Array): NewMetadata {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!message.subarray(0, magic.length).equals(magic)) return nothing;
  const raw = fieldsOf(message.subarray(magic.length)).get(2);
  const metadata = raw && fieldsOf(raw).get(1);
  if (!metadata) return nothing;
  const fields = fieldsOf(metadata);
  const text = (number: number): string => fields.get(number)?.toString('utf8') ?? '';
  return { name: text(1), uid: text(5), resourceVersion: text(6) };
}

/** The last of each length-delimited field; reading ends where the bytes make no sense. */
function fieldsOf(message: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  let position = 0;
  while (position < message.length) {
    const tag = varint(message, position);
    const value = varint(message, tag.end);
    const wireType = tag.value & 7;
    if (wireType === 0) position = value.end;
    else if (wireType === 2 && value.end + value.value <= message.length) {
      position = value.end + value.value;
      fields.set(tag.value >>> 3, message.subarray(value.end, position));
    } else return fields;
  }
  return fields;
}

function varint(message: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = message[from + index] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: from + index + 1 };
  }
  return { value: 0, end: message.length };
}
