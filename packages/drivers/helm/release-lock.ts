import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import type { Disposable } from '@sheaf/base';

/**
 * Nobody else on this host works on the release while this is held; the kernel gives it back when its holder dies, however that comes.
 * `undefined`: someone has it.
 */
export async function lockRelease(parts: readonly string[]): Promise<Disposable | undefined> {
  const name = createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32);
  const server: Server = createServer();
  const isHeld = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(`\0sheaf-helm-${name}`, () => resolve(true));
  });
  return isHeld ? { dispose: () => void server.close() } : undefined;
}
