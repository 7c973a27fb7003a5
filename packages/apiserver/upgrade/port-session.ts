import type { PortsAnswer } from '@sheaf/api';
import { type ByteStream, copyStream, type DuplexStream, toError } from '@sheaf/base';

/** One of a client's connections to a port: its bytes, and the words for what went wrong. */
export interface PortConnection {
  readonly port: number;
  readonly data: Pick<DuplexStream<Uint8Array>, 'readable' | 'write'>;
  fail(words: string): Promise<void>;
}

/**
 * Joins a client's connection with the port, until the port's side has ended, or either breaks off. The end of what the client
 * sends is the end of what the port gets; it may go on answering. Never throws.
 */
export async function joinPort(
  answer: PortsAnswer,
  connection: PortConnection,
  signal: AbortSignal,
): Promise<void> {
  let stream: ByteStream | undefined;
  const letGo = (): void => stream?.dispose();
  signal.addEventListener('abort', letGo, { once: true });
  try {
    signal.throwIfAborted();
    stream = await answer.open(connection.port, signal);
    signal.throwIfAborted();
    const inward = sendOn(connection, stream, letGo);
    await copyStream(stream, connection.data);
    // Whoever has got the whole answer need not say more.
    letGo();
    await inward;
  } catch (error) {
    if (!signal.aborted) await connection.fail(toError(error).message).catch(() => undefined);
  } finally {
    signal.removeEventListener('abort', letGo);
    letGo();
  }
}

async function sendOn({ data }: PortConnection, stream: ByteStream, breakOff: () => void): Promise<void> {
  try {
    await copyStream(data, stream);
    await stream.end?.();
  } catch {
    // One of both is gone; then so is the other.
    breakOff();
  }
}
