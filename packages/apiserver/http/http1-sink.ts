import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { drained } from './drained.ts';
import type { ExchangeSink } from './exchange.ts';

const lineEnd = '\r\n';
const lastChunk = `0${lineEnd}${lineEnd}`;

/**
 * A stream over HTTP/1.1 whose head has been sent. Each piece is framed once for all watchers that are sent the same,
 * and what comes in one turn of the event loop leaves in one write: writes, each a record of TLS, are most of what an
 * event costs.
 */
export class Http1Sink implements ExchangeSink {
  readonly #outgoing: ServerResponse;
  /** False where the length was told, or for HTTP/1.0, where the end of the connection is the end of the stream. */
  readonly #isChunked: boolean;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
    this.#isChunked = outgoing.chunkedEncoding;
    // Node would frame each piece for each watcher, and write it in three parts.
    outgoing.chunkedEncoding = false;
  }

  get queuedBytes(): number {
    return this.#outgoing.writableLength;
  }

  write(piece: Uint8Array): void {
    const outgoing = this.#outgoing;
    // An empty chunk would be the last.
    if (outgoing.writableEnded || piece.length === 0) return;
    if (outgoing.socket) joinWrites(outgoing.socket);
    outgoing.write(this.#isChunked ? chunkOf(piece) : piece);
  }

  end(): void {
    const outgoing = this.#outgoing;
    if (outgoing.writableEnded) return;
    if (this.#isChunked) outgoing.write(lastChunk, 'latin1');
    outgoing.end();
  }

  onClose(listener: () => void): void {
    if (this.#outgoing.destroyed) listener();
    else this.#outgoing.on('close', listener);
  }

  drained(): Promise<void> {
    return drained(this.#outgoing);
  }

  breakOff(): void {
    this.#outgoing.destroy();
  }
}

/** Pieces are shared between watchers and never change. */
const chunks = new WeakMap<Uint8Array, Buffer>();

function chunkOf(piece: Uint8Array): Buffer {
  const known = chunks.get(piece);
  if (known) return known;
  const head = piece.length.toString(16) + lineEnd;
  const chunk = Buffer.allocUnsafe(head.length + piece.length + lineEnd.length);
  chunk.write(head, 0, 'latin1');
  chunk.set(piece, head.length);
  chunk.write(lineEnd, head.length + piece.length, 'latin1');
  chunks.set(piece, chunk);
  return chunk;
}

function joinWrites(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(uncork, socket);
}

function uncork(socket: Socket): void {
  socket.uncork();
}
