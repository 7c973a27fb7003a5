import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type Clock, sleep } from '@sheaf/base';
import { arpRequest, connectionRequest, isArpReply, withLength } from './pod-frames.ts';
import { podAddresses } from './pod-network.ts';

export interface LeakSearch {
  readonly addresses: readonly string[];
  readonly clock: Clock;
  readonly limitMs: number;
}

/**
 * The address, of some that a guest could try, through which it comes to a server on the host's loopback by the network behind
 * `socket`; `undefined` if there is none. @throws Error where that network does not answer within `limitMs`
 */
export async function findLeak(
  socket: Socket,
  { addresses, clock, limitMs }: LeakSearch,
): Promise<string | undefined> {
  const listeners = await Promise.all(addresses.map(() => VisitorCount.make()));
  try {
    const { guest, gateway } = podAddresses();
    const answers = new ArpAnswers(socket);
    for (const [index, address] of addresses.entries())
      socket.write(withLength(connectionRequest(guest, { address, port: listeners[index]?.port ?? 0 })));
    // Packets are dealt with in turn, but those of one go in any order: the second question comes after all of the first go.
    for (let round = 1; round <= 2; round++) {
      socket.write(withLength(arpRequest(guest, gateway)));
      const silence = sleep(clock, limitMs).then(() => 'silence' as const);
      if ((await Promise.race([answers.reach(round), silence])) === 'silence')
        throw new Error(`it did not answer a guest within ${limitMs} ms`);
    }
    await sleep(clock, settleMs);
    const visitors = await Promise.all(listeners.map((listener) => listener.count()));
    return addresses.find((_, index) => visitors[index] !== 0);
  } finally {
    for (const listener of listeners) listener.close();
  }
}

/** For what one of two programs has made of a packet to come to the other one. */
const settleMs = 100;

/** A server on the loopback that counts who came, and knows when it has been told of all. */
class VisitorCount {
  readonly #server: Server;
  readonly #visitors = new Set<number | undefined>();

  private constructor(server: Server) {
    this.#server = server.on('connection', (connection: Socket) => {
      this.#visitors.add(connection.remotePort);
      connection.destroy();
    });
  }

  static async make(): Promise<VisitorCount> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new VisitorCount(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The kernel tells of visitors in the order in which they came: the last one comes from here. */
  async count(): Promise<number> {
    const last = connect({ port: this.port, host: '127.0.0.1' }).on('error', () => undefined);
    await once(last, 'connect');
    const { localPort } = last;
    while (!this.#visitors.has(localPort)) await once(this.#server, 'connection');
    last.destroy();
    return this.#visitors.size - 1;
  }

  close(): void {
    this.#server.close();
  }
}

/** The answers to questions for addresses, among all that comes to a guest. */
class ArpAnswers {
  #bytes = Buffer.alloc(0);
  #count = 0;
  #tell: () => void = () => undefined;
  readonly #closed: Promise<never>;

  constructor(socket: Socket) {
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#closed = once(socket, 'close').then(() =>
      Promise.reject(new Error('it closed the connection of a guest')),
    );
    this.#closed.catch(() => undefined);
  }

  /** Resolves when there have been so many. @throws Error when the connection ends before */
  async reach(wanted: number): Promise<void> {
    while (this.#count < wanted)
      await Promise.race([
        this.#closed,
        new Promise<void>((resolve) => {
          this.#tell = resolve;
        }),
      ]);
  }

  #take(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 4 && this.#bytes.length >= 4 + this.#bytes.readUInt32BE(0)) {
      const end = 4 + this.#bytes.readUInt32BE(0);
      const frame = this.#bytes.subarray(4, end);
      this.#bytes = this.#bytes.subarray(end);
      if (isArpReply(frame)) this.#count += 1;
    }
    this.#tell();
  }
}
