import type { Socket } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import {
  ackFlag,
  arpReply,
  connectionPacket,
  connectionRequest,
  dhcpDiscover,
  type Endpoint,
  messagePacket,
  nameRequest,
  pushFlag,
  synFlag,
  withLength,
} from './pod-frames.ts';

const stepMs = 5;
/** How long no answer is waited for. */
const silenceMs = 2000;

interface TcpHeader {
  readonly from: Endpoint;
  readonly port: number;
  readonly sequence: number;
  readonly flags: number;
}

/** A guest that knows a little of TCP: who answers it, and what comes to it. */
export class FrameStream {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  readonly #frames: Buffer[] = [];
  #guest = '';

  constructor(socket: Socket) {
    this.#socket = socket.on('error', () => undefined).on('data', (chunk: Buffer) => this.#take(chunk));
  }

  /** What DHCP offers. */
  async lease(): Promise<{ readonly address: string; readonly gateway: string; readonly resolver: string }> {
    this.#send(dhcpDiscover());
    const offer = await this.#find((frame) => (isUdpTo(frame, 68) ? frame.subarray(42) : undefined));
    if (!offer) throw new Error('DHCP offers nothing');
    this.#guest = addressAt(offer, 16);
    return { address: this.#guest, gateway: optionOf(offer, 3), resolver: optionOf(offer, 6) };
  }

  /** What a resolver says; `undefined` if it is silent. */
  async ask(resolver: string): Promise<string | undefined> {
    this.#send(nameRequest(this.#guest, resolver));
    return await this.#find((frame) => {
      const message = udpOf(frame);
      return message && isSame(message.from, { address: resolver, port: 53 })
        ? String(message.body)
        : undefined;
    });
  }

  /** Wants to connect, and does not wait for an answer. */
  knock(to: Endpoint): void {
    this.#send(connectionRequest(this.#guest, to));
  }

  /** `answered`, `refused` or `nothing`. What was sent before has come to its end then. */
  async connect(to: Endpoint): Promise<string> {
    this.knock(to);
    const flags = await this.#find((frame) => {
      const header = tcpOf(frame);
      return header && isSame(header.from, to) ? header.flags : undefined;
    });
    if (flags === undefined) return 'nothing';
    return (flags & 0x04) === 0 ? 'answered' : 'refused';
  }

  /** Takes a connection as a service does that speaks first: with these words as soon as it stands. Resolves to the port. */
  async greet(words: string): Promise<number> {
    const request = await this.#heard(tcpOf, ({ flags }) => (flags & (synFlag | ackFlag)) === synFlag);
    const ends = [{ address: this.#guest, port: request.port }, request.from] as const;
    const next = request.sequence + 1;
    this.#send(connectionPacket(ends, { flags: synFlag | ackFlag, sequence: 1, next }));
    await this.#heard(tcpOf, ({ from, flags }) => isSame(from, request.from) && flags === ackFlag);
    this.#send(connectionPacket(ends, { flags: pushFlag | ackFlag, sequence: 2, next, data: words }));
    return request.port;
  }

  /** Sends the next message to a port back. */
  async echo(port: number): Promise<void> {
    const { from, body } = await this.#heard(udpOf, (message) => message.port === port);
    this.#send(messagePacket([{ address: this.#guest, port }, from], body));
  }

  async #heard<T>(read: (frame: Buffer) => T | undefined, isIt: (heard: T) => boolean): Promise<T> {
    const heard = await this.#find((frame) => {
      const found = read(frame);
      return found !== undefined && isIt(found) ? found : undefined;
    });
    if (heard === undefined) throw new Error(`nobody came: ${isIt.toString()}`);
    return heard;
  }

  async #find<T>(claim: (frame: Buffer) => T | undefined): Promise<T | undefined> {
    for (let passed = 0; passed < silenceMs; passed += stepMs) {
      for (let frame = this.#frames.shift(); frame; frame = this.#frames.shift()) {
        if (isArpRequestFor(frame, this.#guest)) this.#send(arpReply(frame));
        const found = claim(frame);
        if (found !== undefined) return found;
      }
      await pass(stepMs);
    }
    return undefined;
  }

  #send(frame: Buffer): void {
    this.#socket.write(withLength(frame));
  }

  #take(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 4 && this.#bytes.length >= 4 + this.#bytes.readUInt32BE(0)) {
      const end = 4 + this.#bytes.readUInt32BE(0);
      this.#frames.push(this.#bytes.subarray(4, end));
      this.#bytes = this.#bytes.subarray(end);
    }
  }
}

function addressAt(bytes: Buffer, offset: number): string {
  return [...bytes.subarray(offset, offset + 4)].join('.');
}

function isUdpTo(frame: Buffer, port: number): boolean {
  return frame.readUInt16BE(12) === 0x0800 && frame[23] === 17 && frame.readUInt16BE(36) === port;
}

function tcpOf(frame: Buffer): TcpHeader | undefined {
  if (frame.readUInt16BE(12) !== 0x0800 || frame[23] !== 6) return undefined;
  const segment = frame.subarray(34);
  return {
    from: { address: addressAt(frame, 26), port: segment.readUInt16BE(0) },
    port: segment.readUInt16BE(2),
    sequence: segment.readUInt32BE(4),
    flags: segment[13] ?? 0,
  };
}

function udpOf(
  frame: Buffer,
): { readonly from: Endpoint; readonly port: number; readonly body: Buffer } | undefined {
  if (frame.readUInt16BE(12) !== 0x0800 || frame[23] !== 17) return undefined;
  const message = frame.subarray(34);
  return {
    from: { address: addressAt(frame, 26), port: message.readUInt16BE(0) },
    port: message.readUInt16BE(2),
    body: message.subarray(8, message.readUInt16BE(4)),
  };
}

function isSame(one: Endpoint, other: Endpoint): boolean {
  return one.address === other.address && one.port === other.port;
}

function isArpRequestFor(frame: Buffer, address: string): boolean {
  return (
    frame.readUInt16BE(12) === 0x0806 && frame.readUInt16BE(20) === 1 && addressAt(frame, 38) === address
  );
}

/** An address in the options of a DHCP message, after its magic number. */
function optionOf(message: Buffer, wanted: number): string {
  for (let at = 240; at < message.length && message[at] !== 255; ) {
    const length = message[at + 1] ?? 0;
    if (message[at] === wanted) return addressAt(message, at + 2);
    at += message[at] === 0 ? 1 : 2 + length;
  }
  return '';
}
