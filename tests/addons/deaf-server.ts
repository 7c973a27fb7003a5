import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Somebody listens, and hangs up. */
export async function listenInVain(): Promise<AsyncDisposable & { readonly address: string }> {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
