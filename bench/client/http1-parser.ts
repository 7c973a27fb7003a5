/** What a parsed answer is delivered to, in this order: head, body chunks, end. */
export interface AnswerSink {
  head(status: number, headers: string): void;
  body(chunk: Buffer): void;
  end(): void;
}

const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');

type State = 'head' | 'fixed' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer';

/**
 * An incremental parser of HTTP/1.1 answers with a length or chunked transfer, cheap enough for a load generator. It trusts
 * the server that is measured: it is not a parser for input from strangers.
 */
export class Http1Parser {
  readonly #sink: AnswerSink;
  #state: State = 'head';
  #pending: Buffer = Buffer.alloc(0);
  #left = 0;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#step());
  }

  /** Handles one element; false when more input is needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#head();
      case 'fixed':
      case 'chunk-data':
        return this.#data();
      default:
        return this.#line();
    }
  }

  #head(): boolean {
    const end = this.#pending.indexOf(headEnd);
    if (end < 0) return false;
    const head = this.#pending.toString('latin1', 0, end);
    this.#pending = this.#pending.subarray(end + 4);
    const status = Number(head.slice(9, 12));
    this.#sink.head(status, head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) this.#fixed(Number(length));
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) this.#state = 'chunk-size';
    else this.#fixed(0);
    return true;
  }

  #fixed(length: number): void {
    if (length === 0) {
      this.#finish();
      return;
    }
    this.#left = length;
    this.#state = 'fixed';
  }

  #data(): boolean {
    if (this.#pending.length === 0) return false;
    const part = this.#pending.subarray(0, this.#left);
    this.#pending = this.#pending.subarray(part.length);
    this.#left -= part.length;
    this.#sink.body(part);
    if (this.#left > 0) return false;
    if (this.#state === 'fixed') this.#finish();
    else this.#state = 'chunk-end';
    return true;
  }

  #line(): boolean {
    const end = this.#pending.indexOf(lineEnd);
    if (end < 0) return false;
    const line = this.#pending.toString('latin1', 0, end);
    this.#pending = this.#pending.subarray(end + 2);
    if (this.#state === 'chunk-end') this.#state = 'chunk-size';
    else if (this.#state === 'trailer') {
      if (line === '') this.#finish();
    } else this.#chunkSize(Number.parseInt(line, 16));
    return true;
  }

  #chunkSize(size: number): void {
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'chunk-data';
  }

  #finish(): void {
    this.#state = 'head';
    this.#sink.end();
  }
}
