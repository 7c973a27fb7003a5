import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { type Clock, type Logger, type Random, toError } from '@sheaf/base';
import type { NameAnswer, NameQuestion, NameServer, ProxyBackend } from '@sheaf/ports';
import { type AnswerParts, answerMessage } from './answers.ts';
import { Forwarder } from './forwarder.ts';
import { HostResolvers } from './host-resolvers.ts';
import { frame, MessageFrames } from './stream-framing.ts';

export interface NameServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Where the host is told about names; `/etc/resolv.conf`, if absent. */
  readonly resolverFile?: string;
  /**
   * Tried first. The same one in each life lets questions that are under way meanwhile be answered by the next one: the kernel
   * remembers for half a minute where it has sent a client.
   */
  readonly port?: number;
}

const host = '127.0.0.1';
const idleMs = 10_000;
const mostConnections = 256;
/** A port that is free for TCP may be taken for UDP. */
const mostAttempts = 20;

/** Answers on one port of the loopback, UDP and TCP; see docs/architecture/services.md. */
export class LoopbackNameServer implements NameServer {
  readonly #options: NameServerOptions;
  readonly #resolvers: HostResolvers;
  readonly #forwarder: Forwarder;
  #udp: UdpSocket | undefined;
  #tcp: Server | undefined;
  readonly #connections = new Set<Socket>();

  constructor(options: NameServerOptions) {
    this.#options = options;
    this.#resolvers = new HostResolvers(options.resolverFile ?? '/etc/resolv.conf', options.clock);
    this.#forwarder = new Forwarder({ ...options, resolvers: this.#resolvers });
  }

  searches(): readonly string[] {
    return this.#resolvers.read().searches;
  }

  async start(answer: (question: NameQuestion) => NameAnswer): Promise<ProxyBackend> {
    const parts = { answer, forwarder: this.#forwarder, random: this.#options.random };
    const any = Array.from({ length: mostAttempts }, () => 0);
    let failure: Error | undefined;
    for (const wanted of [this.#options.port ?? 0, ...any]) {
      const port = await this.#listen(parts, wanted);
      if (typeof port === 'number') return { address: host, port };
      failure = port;
    }
    throw failure ?? new Error('no port of the loopback is free');
  }

  /** On the same port for both, or on none. */
  async #listen(parts: AnswerParts, wanted: number): Promise<number | Error> {
    const [tcp, udp] = [this.#serveTcp(parts), this.#serveUdp(parts)];
    const port = await listen(tcp, wanted);
    const error = port instanceof Error ? port : await bind(udp, port);
    if (error) {
      tcp.close();
      udp.close();
      return error;
    }
    const report = (cause: Error): void => this.#options.logger.error('names are not answered', { cause });
    udp.on('error', report);
    tcp.on('error', report);
    [this.#tcp, this.#udp] = [tcp, udp];
    return port;
  }

  dispose(): void {
    this.#udp?.close();
    this.#udp = undefined;
    this.#tcp?.close();
    for (const connection of this.#connections) connection.destroy();
  }

  #serveUdp(parts: AnswerParts): UdpSocket {
    const socket = createSocket({ type: 'udp4' });
    socket.on('message', (message, sender) => {
      void this.#reply(parts, message, 'UDP').then((answer) => {
        // Whoever asked may have gone; this server may have ended.
        if (answer && this.#udp === socket) socket.send(answer, sender.port, sender.address, () => undefined);
      });
    });
    return socket;
  }

  #serveTcp(parts: AnswerParts): Server {
    const server = createServer((socket) => {
      this.#connections.add(socket);
      const frames = new MessageFrames((message) => {
        void this.#reply(parts, message, 'TCP').then((answer) => {
          if (answer && socket.writable) socket.write(frame(answer));
        });
      });
      socket.setTimeout(idleMs, () => socket.destroy());
      socket.on('data', (bytes: Buffer) => frames.add(bytes));
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#connections.delete(socket));
    });
    server.maxConnections = mostConnections;
    return server;
  }

  async #reply(parts: AnswerParts, message: Buffer, way: 'UDP' | 'TCP'): Promise<Buffer | undefined> {
    try {
      return await answerMessage(parts, message, way);
    } catch (error) {
      this.#options.logger.error('a question for a name could not be answered', { cause: toError(error) });
      return undefined;
    }
  }
}

function listen(server: Server, wanted: number): Promise<number | Error> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(wanted, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
}

function bind(socket: UdpSocket, port: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    socket.once('error', resolve);
    socket.bind(port, host, () => resolve(undefined));
  });
}
