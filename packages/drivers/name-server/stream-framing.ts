/** Over TCP, the length of each message comes before it. */
export function frame(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Cuts a stream into messages. */
export class MessageFrames {
  readonly #onMessage: (message: Buffer) => void;
  #rest = Buffer.alloc(0);

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  add(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 2) {
      const end = 2 + this.#rest.readUInt16BE(0);
      if (this.#rest.length < end) return;
      const message = this.#rest.subarray(2, end);
      this.#rest = this.#rest.subarray(end);
      this.#onMessage(message);
    }
  }
}
