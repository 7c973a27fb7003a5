import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FileServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves one file on the loopback, whole, as the plainest web server does. */
export async function serveFile(path: string): Promise<FileServer> {
  const { size } = await stat(path);
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-length': size, 'content-type': 'application/octet-stream' });
    if (request.method === 'HEAD') response.end();
    else createReadStream(path).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/disk.qcow2`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
