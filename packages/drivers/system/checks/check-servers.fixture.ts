import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { CheckTarget } from '@sheaf/ports';
import type { AskedHttp, GrpcAnswer, HttpAnswer, NetworkBench } from '@sheaf/ports/network-checks.contract';
import { testCertificates } from '@sheaf/testkit';
import { networkChecks } from '../register.ts';

const host = '127.0.0.1';

/** Real servers on this host's loopback. */
export async function withCheckServers(use: (bench: NetworkBench) => Promise<void>): Promise<void> {
  const servers: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];
  const listen = async (server: Server): Promise<CheckTarget> => {
    const sockets = new Set<Socket>();
    servers.push({ server, sockets });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      // Whoever checks leaves when it knows enough.
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return { host, port: (server.address() as AddressInfo).port };
  };
  try {
    await use({
      checks: networkChecks,
      serveHttp: async (scheme, answer) =>
        listen(
          scheme === 'http' ? createHttp(listener(answer)) : createHttps(await serving(), listener(answer)),
        ),
      serveGrpc: (answer) => listen(grpcServer(answer)),
      serveSilence: (onConnection) => listen(createServer(() => onConnection?.())),
      serveEnds: () => listen(createServer((socket) => socket.end())),
      // No service has this number, and only root could take it.
      nobody: { host, port: 1 },
    });
  } finally {
    for (const { server, sockets } of servers) {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

async function serving(): Promise<{ readonly key: string; readonly cert: string }> {
  const { serving: pair } = await testCertificates();
  return { key: pair.privateKeyPem, cert: pair.certificatePem };
}

function listener(answer: (asked: AskedHttp) => HttpAnswer): RequestListener {
  return (request, response) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]),
    );
    const { status, location, stalls = false } = answer({ path: request.url ?? '', headers });
    response.writeHead(status, { ...(location !== undefined && { location }) });
    if (stalls) response.flushHeaders();
    else response.end();
  };
}

function grpcServer(answer: (service: string) => GrpcAnswer): Server {
  const server = createHttp2();
  server.on('stream', (stream: ServerHttp2Stream, { ':path': path }) => {
    const asked: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => asked.push(chunk));
    stream.on('error', () => undefined);
    stream.on('end', () => {
      const head = { ':status': 200, 'content-type': 'application/grpc' };
      const result: GrpcAnswer =
        path === '/grpc.health.v1.Health/Check'
          ? answer(serviceOf(Buffer.concat(asked)))
          : { code: 12, message: 'no such method' };
      if ('code' in result)
        return stream.respond(
          { ...head, 'grpc-status': String(result.code), 'grpc-message': encodeURIComponent(result.message) },
          { endStream: true },
        );
      stream.respond(head, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const message = result.state === 0 ? [] : [8, result.state];
      return stream.end(Buffer.from([0, 0, 0, 0, message.length, ...message]));
    });
  });
  return server;
}

/** Of a framed request: nothing, or field 1 with a length of one or two bytes. */
function serviceOf(request: Buffer): string {
  const message = request.subarray(5);
  if (request.readUInt32BE(1) !== message.length) throw new Error('the length of the message is not its own');
  if (message.length === 0) return '';
  return message.subarray((message[1] ?? 0) < 128 ? 2 : 3).toString();
}
