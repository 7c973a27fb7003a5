import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

const known = new WeakMap<Socket, Uint8Array | null>();

/** The client's certificate, DER, not verified; the same array for every request of a connection. */
export function clientCertificateOf(socket: Socket): Uint8Array | undefined {
  const remembered = known.get(socket);
  if (remembered !== undefined) return remembered ?? undefined;
  const found = readCertificate(socket);
  known.set(socket, found ?? null);
  return found;
}

function readCertificate(socket: Socket): Uint8Array | undefined {
  // The socket of an HTTP/2 session is a proxy that hands calls on but does not say what it has.
  const { getPeerX509Certificate } = socket as Partial<TLSSocket>;
  return getPeerX509Certificate?.call(socket)?.raw;
}
