import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const markBytes = 16;

/**
 * A small file beside the database that remembers the newest revision that was acknowledged. It is written after the
 * database is durable and is not waited for, so it may be behind, never ahead. A database that ends before its mark
 * has lost something: its write-ahead log was damaged or removed, or the file was replaced by an older copy.
 */
export class AcknowledgedMark {
  readonly #descriptor: number;
  readonly #buffer = Buffer.alloc(markBytes);
  #revision: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#revision = this.#read();
  }

  /** The revision remembered; 0 if there is none or it is unreadable. */
  get revision(): number {
    return this.#revision;
  }

  write(revision: number): void {
    this.#revision = revision;
    this.#buffer.writeBigUInt64LE(BigInt(revision), 0);
    this.#buffer.writeUInt32LE(crc32(this.#buffer.subarray(0, 8)), 8);
    writeSync(this.#descriptor, this.#buffer, 0, markBytes, 0);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #read(): number {
    const length = readSync(this.#descriptor, this.#buffer, 0, markBytes, 0);
    if (length < markBytes) return 0;
    if (this.#buffer.readUInt32LE(8) !== crc32(this.#buffer.subarray(0, 8))) return 0;
    return Number(this.#buffer.readBigUInt64LE(0));
  }
}
