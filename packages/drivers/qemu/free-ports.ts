import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { PortForward } from '@sheaf/ports';

type Protocol = PortForward['protocol'];

interface HeldPort {
  readonly port: number;
  readonly free: () => void;
}

const loopback = '127.0.0.1';

/** Ports of the host's loopback that are free now, chosen by the kernel; one for each protocol that is named, all different. */
export async function freeLoopbackPorts(protocols: readonly Protocol[]): Promise<readonly number[]> {
  const held = await Promise.all(protocols.map(hold));
  for (const { free } of held) free();
  return held.map(({ port }) => port);
}

async function hold(protocol: Protocol): Promise<HeldPort> {
  if (protocol === 'udp') {
    const socket = createSocket('udp4').bind(0, loopback);
    await once(socket, 'listening');
    return { port: socket.address().port, free: () => void socket.close() };
  }
  const server = createServer().listen(0, loopback);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, free: () => void server.close() };
}
