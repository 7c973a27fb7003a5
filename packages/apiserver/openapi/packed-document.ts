import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** A document kept compressed: seldom asked for, megabytes in plain, and clients take it compressed anyway. */
export class PackedDocument {
  readonly #packed: Uint8Array;

  private constructor(packed: Uint8Array) {
    this.#packed = packed;
  }

  static async of(plain: Uint8Array): Promise<PackedDocument> {
    return new PackedDocument(await pack(plain, { level: 3 }));
  }

  get gzip(): Uint8Array {
    return this.#packed;
  }

  plain(): Promise<Uint8Array> {
    return unpack(this.#packed);
  }
}
