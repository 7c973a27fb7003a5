import type { Socket } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import { arpReply, connectionRequest, dhcpDiscover, nameRequest, withLength } from './pod-frames.ts';

const stepMs = 5;
/** How long no answer is waited for. */
const silenceMs = 2000;

interface TcpHeader {
  readonly source: string;
  readonly sourcePort: number;
  readonly port: number;
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
    return await this.#find((frame) =>
      isUdpFrom(frame, 53) && addressAt(frame, 26) === resolver ? String(frame.subarray(42)) : undefined,
    );
  }

  /** Wants to connect, and does not wait for an answer. */
  knock(to: { readonly address: string; readonly port: number }): void {
    this.#send(connectionRequest(this.#guest, to));
  }

  /** `answered`, `refused` or `nothing`. What was sent before has come to its end then. */
  async connect(to: { readonly address: string; readonly port: number }): Promise<string> {
    this.knock(to);
    const flags = await this.#find((frame) => {
      const header = tcpOf(frame);
      return header && header.source === to.address && header.sourcePort === to.port
        ? header.flags
        : undefined;
    });
    if (flags === undefined) return 'nothing';
    return (flags & 0x04) === 0 ? 'answered' : 'refused';
  }

  /** The port that someone outside tries to reach. */
  async incomingPort(): Promise<number> {
    const port = await this.#find((frame) => {
      const header = tcpOf(frame);
      return header && (header.flags & 0x12) === 0x02 ? header.port : undefined;
    });
    if (port === undefined) throw new Error('nobody came');
    return port;
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

function isUdpFrom(frame: Buffer, port: number): boolean {
  return frame.readUInt16BE(12) === 0x0800 && frame[23] === 17 && frame.readUInt16BE(34) === port;
}

function tcpOf(frame: Buffer): TcpHeader | undefined {
  if (frame.readUInt16BE(12) !== 0x0800 || frame[23] !== 6) return undefined;
  const segment = frame.subarray(34);
  return {
    source: addressAt(frame, 26),
    sourcePort: segment.readUInt16BE(0),
    port: segment.readUInt16BE(2),
    flags: segment[13] ?? 0,
  };
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
