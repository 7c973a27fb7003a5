import type { RelayAnswer } from '@sheaf/api';
import { copyStream } from '@sheaf/base';
import { socketStream } from './socket-stream.ts';
import type { UpgradeOptions, UpgradingConnection } from './upgrading-connection.ts';

/** Passes on what both sides say, until either has ended. Never throws. */
export async function serveRelay(
  { socket, head }: UpgradingConnection,
  { head: accepted, stream }: RelayAnswer,
  { signal }: Pick<UpgradeOptions, 'signal'>,
): Promise<void> {
  const client = socketStream(socket, head);
  const letGo = (): void => {
    client.dispose();
    stream.dispose();
  };
  signal.addEventListener('abort', letGo, { once: true });
  try {
    signal.throwIfAborted();
    await client.write(Buffer.from(accepted, 'latin1'));
    const inward = copyStream(client, stream).then(() => stream.end?.(), letGo);
    await copyStream(stream, client);
    // What the other server said last is still delivered.
    await client.end?.();
    stream.dispose();
    await inward;
  } catch {
    // One of both is gone; then so is the other.
  } finally {
    signal.removeEventListener('abort', letGo);
    letGo();
  }
}
