import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { Disposable } from '@sheaf/base';
import type { ProxiedPort } from '@sheaf/ports';

type Protocol = ProxiedPort['protocol'];

/**
 * Ports of this host that belong to Services: held by a socket that nobody ever reaches, since the kernel sends what comes to a backend.
 * So no other program, and no other Sheaf, takes one of them unnoticed; and one that somebody has is noticed.
 */
export class PortClaims implements Disposable {
  readonly #held = new Map<string, Disposable>();

  /** Lets go of all others. Tells those that somebody else has, as `PROTOCOL/PORT`, with the words of the system. */
  async hold(
    wanted: readonly { readonly protocol: Protocol; readonly port: number }[],
  ): Promise<ReadonlyMap<string, string>> {
    const keys = new Map(wanted.map((claim) => [claimKey(claim.protocol, claim.port), claim]));
    for (const [key, held] of this.#held)
      if (!keys.has(key)) {
        held.dispose();
        this.#held.delete(key);
      }
    const refused = new Map<string, string>();
    for (const [key, { protocol, port }] of keys) {
      if (this.#held.has(key)) continue;
      const result = await claims[protocol](port);
      if (result instanceof Error) refused.set(key, result.message);
      else this.#held.set(key, result);
    }
    return refused;
  }

  dispose(): void {
    for (const held of this.#held.values()) held.dispose();
    this.#held.clear();
  }
}

export function claimKey(protocol: Protocol, port: number): string {
  return `${protocol}/${port}`;
}

const claims: Readonly<Record<Protocol, (port: number) => Promise<Disposable | Error>>> = {
  TCP: (port) =>
    new Promise((resolve) => {
      // Somebody came between the loss of the rules and their return: better told at once than kept waiting.
      const server = createServer((socket) => socket.resetAndDestroy());
      server.once('error', resolve);
      server.listen({ host: '0.0.0.0', port, exclusive: true }, () =>
        resolve({ dispose: () => void server.close() }),
      );
      server.unref();
    }),
  UDP: (port) =>
    new Promise((resolve) => {
      const socket = createSocket('udp4');
      socket.once('error', resolve);
      socket.bind({ address: '0.0.0.0', port, exclusive: true }, () =>
        resolve({ dispose: () => void socket.close() }),
      );
      socket.unref();
    }),
};
