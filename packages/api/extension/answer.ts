import type { ByteStream, JsonValue, MessageStream } from '@sheaf/base';
import type { PortsAnswer, ProcessAnswer } from './process-answer.ts';

/** What a feature answers. Failures are thrown as StatusErrors. */
export type ExtensionAnswer = PlainAnswer | UpgradeAnswer;

/** The connection becomes something else than HTTP. */
export type UpgradeAnswer = OwnUpgradeAnswer | RelayAnswer;

/** This server speaks the other protocol itself. */
export type OwnUpgradeAnswer = StreamAnswer | ProcessAnswer | PortsAnswer;

/**
 * Another server has accepted the upgrade: its answer and everything after it pass as they are. Owned by the server from then on,
 * which disposes `stream` when either side ends.
 */
export interface RelayAnswer {
  readonly kind: 'relay';
  /** The other server's answer, from its first line to the empty one. */
  readonly head: string;
  readonly stream: ByteStream;
}

export interface PlainAnswer {
  readonly kind: 'plain';
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Chunks are taken as fast as the client reads, and not changed after they were given. An error breaks the connection off, so that
   * half is never taken for whole. What waits for something must end with the signal of the request.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * The connection becomes a WebSocket that is joined to `stream`: opened before the answer, so that its failure is a status; owned by
 * the server from then on, which disposes it when either side ends. Bytes travel as `plain.kubevirt.io`, `binary.k8s.io`, `binary`,
 * without a subprotocol, or in base64 as `base64.binary.k8s.io`; texts as text frames.
 */
export type StreamAnswer =
  | { readonly kind: 'bytes'; readonly stream: ByteStream }
  | { readonly kind: 'messages'; readonly stream: MessageStream };

const encoder = new TextEncoder();

export function jsonAnswer(status: number, value: JsonValue): PlainAnswer {
  return typedAnswer(status, 'application/json', encoder.encode(JSON.stringify(value)));
}

export function textAnswer(status: number, text: string): PlainAnswer {
  return typedAnswer(status, 'text/plain; charset=utf-8', encoder.encode(text));
}

/** 202, 204 … */
export function emptyAnswer(status: number): PlainAnswer {
  return { kind: 'plain', status, headers: {}, body: new Uint8Array() };
}

/** 200 with bytes that are there, or that come: a screenshot, a download. */
export function dataAnswer(contentType: string, body: PlainAnswer['body']): PlainAnswer {
  return typedAnswer(200, contentType, body);
}

function typedAnswer(status: number, contentType: string, body: PlainAnswer['body']): PlainAnswer {
  return { kind: 'plain', status, headers: { 'content-type': contentType }, body };
}

export function byteStreamAnswer(stream: ByteStream): StreamAnswer {
  return { kind: 'bytes', stream };
}

export function messageStreamAnswer(stream: MessageStream): StreamAnswer {
  return { kind: 'messages', stream };
}
