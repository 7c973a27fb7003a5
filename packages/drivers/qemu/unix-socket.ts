import { type FileHandle, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';

/** The kernel takes paths of at most 107 bytes. */
const longestPath = 107;

/** Connects to a socket file, however long its path is. @throws Error if nobody listens there */
export async function connectUnix(path: string): Promise<Socket> {
  if (Buffer.byteLength(path) <= longestPath) return await connected(connect({ path }));
  const directory: FileHandle = await open(dirname(path), 'r');
  try {
    return await connected(connect({ path: `/proc/self/fd/${directory.fd}/${basename(path)}` }));
  } finally {
    await directory.close();
  }
}

/** Resolves when the connection stands. */
export function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
