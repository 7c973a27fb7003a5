import { SourceFault } from '../http-source.ts';

/** Takes bytes from chunks as they come, in the pieces that are asked for. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();
  #position = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** How many have been taken. */
  get position(): number {
    return this.#position;
  }

  /** The next ones; fewer only at the end. For small numbers: they are gathered. */
  async read(bytes: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    let missing = bytes;
    while (missing > 0 && (await this.#fill())) {
      const piece = this.#take(missing);
      pieces.push(piece);
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** The next ones as they come. @throws SourceFault when they end before */
  async *stream(bytes: number): AsyncGenerator<Uint8Array> {
    let missing = bytes;
    while (missing > 0) {
      if (!(await this.#fill())) throw new SourceFault('an archive in it ends too early');
      const piece = this.#take(missing);
      missing -= piece.length;
      yield piece;
    }
  }

  async skip(bytes: number): Promise<void> {
    for await (const _ of this.stream(bytes));
  }

  #take(most: number): Uint8Array {
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    this.#position += piece.length;
    return piece;
  }

  async #fill(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.#rest = value;
    }
    return true;
  }
}
