import { createSocket, type Socket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Disposable } from '@sheaf/base';
import type { BenchTarget } from '@sheaf/ports/service-proxy.contract';

export interface Answer {
  readonly name: string;
  readonly client: string;
}

export const podPort = 8080;
const resendMs = 200;

/** Answers with its name and who asks, over TCP and UDP; port 0: any, the same for both. */
export async function serve(
  name: string,
  host: string,
  port: number,
): Promise<Disposable & { readonly port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(JSON.stringify({ name, client: socket.remoteAddress }));
  });
  await new Promise<void>((resolve) => {
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  const socket = createSocket('udp4');
  socket.on('message', (_, sender) => {
    socket.send(JSON.stringify({ name, client: sender.address }), sender.port, sender.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(bound, host, resolve);
  });
  return {
    port: bound,
    dispose() {
      server.close();
      socket.close();
    },
  };
}

/** `undefined`: refused. Waits for good where nobody says anything. */
export async function ask({ protocol, address, port }: BenchTarget): Promise<Answer | undefined> {
  return protocol === 'TCP' ? await askTcp(address, port) : await askUdp(address, port);
}

function askTcp(host: string, port: number): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    socket.on('end', () => resolve(JSON.parse(text) as Answer));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(error),
    );
  });
}

async function askUdp(address: string, port: number): Promise<Answer | undefined> {
  const socket = createSocket('udp4');
  try {
    return await new Promise((resolve, reject) => {
      socket.on('message', (text) => resolve(JSON.parse(text.toString()) as Answer));
      socket.on('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(error),
      );
      sendAgainAndAgain(socket, { address, port });
    });
  } finally {
    socket.close();
  }
}

/** Tells who answers each time, until it is disposed. */
export function send({ address, port }: BenchTarget, onAnswer: (answer: Answer) => void): Disposable {
  const socket = createSocket('udp4');
  socket.on('message', (text) => onAnswer(JSON.parse(text.toString()) as Answer));
  // Nobody is there for a moment.
  socket.on('error', () => undefined);
  sendAgainAndAgain(socket, { address, port });
  return { dispose: () => void socket.close() };
}

function sendAgainAndAgain(socket: Socket, { address, port }: { address: string; port: number }): void {
  socket.connect(port, address, (error?: Error) => {
    if (error) return void socket.emit('error', error);
    const timer = setInterval(() => socket.send('who is there?'), resendMs);
    socket.once('close', () => clearInterval(timer));
    socket.send('who is there?');
  });
}

type Order = { readonly id: number; readonly target: BenchTarget; readonly isSending?: boolean };

/** Takes orders, one a line, in the network of a pod. */
async function main(name: string): Promise<void> {
  const served = await serve(name, '0.0.0.0', podPort);
  const say = (words: unknown): void => void process.stdout.write(`${JSON.stringify(words)}\n`);
  say({ id: 0 });
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, target, isSending } = JSON.parse(line) as Order;
    if (isSending) send(target, (answer) => say({ id, answer }));
    else
      ask(target).then(
        (answer) => say({ id, answer }),
        (error: unknown) => say({ id, error: String(error) }),
      );
  }
  served.dispose();
  process.exit(0);
}

const [, program, podName] = process.argv;
if (program === import.meta.filename && podName !== undefined) await main(podName);
