/**
 * Runs in the network of a sandbox: connects to the port of its first argument there, and gives the connection to the process that
 * began it. So nothing of what is sent passes through here, and either side can end by itself.
 */
import { connect, type Socket } from 'node:net';

const port = Number(process.argv[2]);

function dial(host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

try {
  const socket = await dial('127.0.0.1').catch(() => dial('::1'));
  process.send?.({ isConnected: true }, socket, undefined, () => process.exit());
} catch (error) {
  process.send?.({ isConnected: false, words: String(error) }, undefined, undefined, () => process.exit());
}
