import { type FileHandle, open } from 'node:fs/promises';

/** A file that grows at its end. What is beyond its durable bytes counts for nothing. */
export class PartFile {
  readonly #file: FileHandle;
  readonly #checkpointBytes: number;
  readonly #onDurable: (bytes: number) => Promise<void>;
  #bytes: number;
  #durableBytes: number;

  private constructor(
    file: FileHandle,
    bytes: number,
    options: { checkpointBytes: number; onDurable: (bytes: number) => Promise<void> },
  ) {
    this.#file = file;
    this.#bytes = bytes;
    this.#durableBytes = bytes;
    this.#checkpointBytes = options.checkpointBytes;
    this.#onDurable = options.onDurable;
  }

  /** `bytes` of it are known to be right; `onDurable` writes down how many are, after each stretch. */
  static async open(
    path: string,
    bytes: number,
    options: { checkpointBytes: number; onDurable: (bytes: number) => Promise<void> },
  ): Promise<PartFile> {
    const file = await open(path, bytes === 0 ? 'w' : 'r+', 0o600);
    await file.truncate(bytes);
    return new PartFile(file, bytes, options);
  }

  get bytes(): number {
    return this.#bytes;
  }

  async append(chunk: Uint8Array): Promise<void> {
    let written = 0;
    while (written < chunk.length) {
      const { bytesWritten } = await this.#file.write(chunk, written, chunk.length - written, this.#bytes);
      written += bytesWritten;
      this.#bytes += bytesWritten;
    }
    if (this.#bytes - this.#durableBytes >= this.#checkpointBytes) await this.checkpoint();
  }

  async checkpoint(): Promise<void> {
    if (this.#bytes === this.#durableBytes) return;
    await this.#file.datasync();
    this.#durableBytes = this.#bytes;
    await this.#onDurable(this.#bytes);
  }

  /** Gives up what is not durable, and its room. */
  async forget(): Promise<void> {
    await this.#file.truncate(this.#durableBytes);
    this.#bytes = this.#durableBytes;
  }

  async restart(): Promise<void> {
    await this.#onDurable(0);
    await this.#file.truncate(0);
    this.#bytes = 0;
    this.#durableBytes = 0;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
