/**
 * Runs in the network of a sandbox: connects to the ports there that it is told, and gives the connections to the process that began
 * it. So nothing of what is sent passes through here, and either side can end by itself. It ends with the one who began it.
 */
import { connect, type Socket } from 'node:net';

interface Order {
  readonly id: number;
  readonly port: number;
}

function dial(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once('error', reject).once('connect', () => {
      // What the other side says first is for the one who gets the connection.
      socket.pause();
      resolve(socket);
    });
  });
}

async function carryOut({ id, port }: Order): Promise<void> {
  try {
    const socket = await dial('127.0.0.1', port).catch(() => dial('::1', port));
    process.send?.({ id, isConnected: true }, socket);
  } catch (error) {
    process.send?.({ id, isConnected: false, words: String(error) });
  }
}

process.on('message', (order) => void carryOut(order as Order));
process.on('disconnect', () => process.exit());
