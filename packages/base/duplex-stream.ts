import type { Disposable } from './disposable.ts';

/** A two-way stream, without a word of the transport below it. `dispose` breaks it off in both directions. */
export interface DuplexStream<T> extends Disposable {
  /** Ends with the stream, or throws what broke it. Read once. Nothing is taken in while nobody reads. */
  readonly readable: AsyncIterable<T>;
  /** Resolves when more may be written. @throws Error when the stream is over */
  write(item: T): Promise<void>;
  /** Nothing more is written: the other side sees the end after what has been written. Without it `dispose` is the end. */
  end?(): Promise<void>;
}

export type ByteStream = DuplexStream<Uint8Array>;

/** Whole texts, each as it was sent. */
export type MessageStream = DuplexStream<string>;

/** Copies until `from` ends. @throws what broke either */
export async function copyStream<T>(
  from: Pick<DuplexStream<T>, 'readable'>,
  to: Pick<DuplexStream<T>, 'write'>,
): Promise<void> {
  for await (const item of from.readable) await to.write(item);
}
