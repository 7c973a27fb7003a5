/** What a guest could send: enough of Ethernet, ARP, IPv4 and TCP to see how its network treats it. */

const ipv4 = 0x0800;
const arp = 0x0806;
const tcp = 6;
const udp = 17;
const guestMac = Buffer.from('525400000001', 'hex');
const everyMac = Buffer.alloc(6, 0xff);

/** Frames on a stream between a machine and its network: each after its length. */
export function withLength(frame: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(frame.length);
  return Buffer.concat([length, frame]);
}

/** Asks who has an address. */
export function arpRequest(from: string, to: string): Buffer {
  const head = Buffer.from('0001080006040001', 'hex');
  const body = Buffer.concat([head, guestMac, addressBytes(from), Buffer.alloc(6), addressBytes(to)]);
  return ethernet(arp, body);
}

export function isArpReply(frame: Buffer): boolean {
  return frame.readUInt16BE(12) === arp && frame.readUInt16BE(20) === 2;
}

/** The answer to such a question about the guest. */
export function arpReply(request: Buffer): Buffer {
  const asker = request.subarray(22, 32);
  const body = Buffer.concat([
    Buffer.from('0001080006040002', 'hex'),
    guestMac,
    request.subarray(38, 42),
    asker,
  ]);
  return ethernet(arp, body);
}

/** Asks for an address. */
export function dhcpDiscover(): Buffer {
  const message = Buffer.alloc(244);
  message.set([1, 1, 6, 0, 0x12, 0x34, 0x56, 0x78]);
  message.set(guestMac, 28);
  message.set(Buffer.from('63825363350101ff', 'hex'), 236);
  return messagePacket(
    [
      { address: '0.0.0.0', port: 68 },
      { address: '255.255.255.255', port: 67 },
    ],
    message,
  );
}

/** A question to a resolver; what is asked is of no account. */
export function nameRequest(from: string, resolver: string): Buffer {
  const question = Buffer.from('1234010000010000000000000131000001', 'hex');
  const asker = { address: from, port: sourcePort };
  return messagePacket([asker, { address: resolver, port: 53 }], question);
}

/** One end of a connection, or of an exchange of datagrams. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** The first packet of a connection. */
export function connectionRequest(from: string, to: Endpoint): Buffer {
  return connectionPacket([{ address: from, port: sourcePort }, to], {
    flags: synFlag,
    sequence: 1,
    next: 0,
  });
}

export const synFlag = 0x02;
export const pushFlag = 0x08;
export const ackFlag = 0x10;

/** Any packet of a connection. `next`: the number of the byte that is awaited from the other end. */
export function connectionPacket(
  [from, to]: readonly [Endpoint, Endpoint],
  part: { readonly flags: number; readonly sequence: number; readonly next: number; readonly data?: string },
): Buffer {
  const segment = Buffer.concat([Buffer.alloc(20), Buffer.from(part.data ?? '')]);
  segment.writeUInt16BE(from.port, 0);
  segment.writeUInt16BE(to.port, 2);
  segment.writeUInt32BE(part.sequence, 4);
  segment.writeUInt32BE(part.next, 8);
  segment.writeUInt16BE(0x5000 + part.flags, 12);
  segment.writeUInt16BE(0xffff, 14);
  const addresses = Buffer.concat([addressBytes(from.address), addressBytes(to.address)]);
  const pseudo = Buffer.concat([addresses, Buffer.from([0, tcp, 0, segment.length])]);
  segment.writeUInt16BE(checksum(Buffer.concat([pseudo, segment])), 16);
  return ethernet(ipv4, packet(tcp, [from.address, to.address], segment));
}

/** A message without a connection. */
export function messagePacket([from, to]: readonly [Endpoint, Endpoint], body: Buffer): Buffer {
  return ethernet(ipv4, packet(udp, [from.address, to.address], datagram([from.port, to.port], body)));
}

const sourcePort = 40_000;

function datagram([from, to]: readonly [number, number], body: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(from, 0);
  header.writeUInt16BE(to, 2);
  header.writeUInt16BE(header.length + body.length, 4);
  return Buffer.concat([header, body]);
}

function packet(protocol: number, [from, to]: readonly [string, string], body: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header.set([0x45, 0]);
  header.writeUInt16BE(header.length + body.length, 2);
  header.set([64, protocol], 8);
  header.set([...addressBytes(from), ...addressBytes(to)], 12);
  header.writeUInt16BE(checksum(header), 10);
  return Buffer.concat([header, body]);
}

function ethernet(type: number, body: Buffer): Buffer {
  const head = Buffer.concat([everyMac, guestMac, Buffer.alloc(2)]);
  head.writeUInt16BE(type, 12);
  return Buffer.concat([head, body]);
}

function addressBytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** The sum of the Internet protocols. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 2)
    sum += (bytes[index] ?? 0) * 256 + (bytes[index + 1] ?? 0);
  while (sum > 0xffff) sum = (sum % 0x10000) + Math.floor(sum / 0x10000);
  return 0xffff - sum;
}
