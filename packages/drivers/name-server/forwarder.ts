import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { type Clock, type Disposable, type Logger, type Random, toError } from '@sheaf/base';
import type { HostResolvers, ResolverAddress } from './host-resolvers.ts';
import { isAnswerTo } from './message-reader.ts';
import { frame, MessageFrames } from './stream-framing.ts';

export interface ForwarderOptions {
  readonly resolvers: HostResolvers;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** How a question came, and so how it is passed on. */
export type Way = 'UDP' | 'TCP';

/** For one answer of one resolver; clients ask again after five seconds, and are to be told before that. */
const answerMs = 2000;
/** Questions under way at once; more are answered as failed, so that a resolver that stalls takes no memory. */
const mostUnderWay = 1000;

/** Passes questions on to the resolvers of this host, one after the other until one answers. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #silent = new Set<string>();
  #underWay = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** The answer as it came, with the id of the question; `undefined`: nobody has answered. */
  async ask(query: Buffer, way: Way): Promise<Buffer | undefined> {
    if (this.#underWay >= mostUnderWay) return undefined;
    this.#underWay++;
    try {
      return await this.#askInTurn(query, way);
    } finally {
      this.#underWay--;
    }
  }

  async #askInTurn(query: Buffer, way: Way): Promise<Buffer | undefined> {
    const { servers } = this.#options.resolvers.read();
    if (servers.length === 0) this.#note('none', 'this host names no resolver in /etc/resolv.conf');
    // Those that were silent are waited for only where nobody else answers.
    const isSilent = (server: ResolverAddress): number => Number(this.#silent.has(placeOf(server)));
    for (const server of servers.toSorted((a, b) => isSilent(a) - isSilent(b))) {
      const answer = await this.#askOne(query, server, way);
      if (answer) return answer;
    }
    return undefined;
  }

  /** Under an id of our own, which nobody else can guess. */
  async #askOne(query: Buffer, server: ResolverAddress, way: Way): Promise<Buffer | undefined> {
    const own = Buffer.from(query);
    own.writeUInt16BE(this.#options.random.integer(0x1_00_00), 0);
    const place = placeOf(server);
    try {
      const answer = Buffer.from(
        await (way === 'UDP' ? this.#overUdp(own, server) : this.#overTcp(own, server)),
      );
      if (this.#silent.delete(place))
        this.#options.logger.info('a resolver of this host answers again', { place });
      query.copy(answer, 0, 0, 2);
      return answer;
    } catch (error) {
      this.#note(place, toError(error).message);
      return undefined;
    }
  }

  /** Once, until it answers again. */
  #note(place: string, words: string): void {
    if (this.#silent.has(place)) return;
    this.#silent.add(place);
    this.#options.logger.warn(
      'a resolver of this host does not answer; names outside of the cluster are not found by it: see /etc/resolv.conf',
      { place, words },
    );
  }

  #overUdp(query: Buffer, { address, port }: ResolverAddress): Promise<Buffer> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    return this.#within(
      (resolve, reject) => {
        socket.on('error', reject);
        socket.on('message', (answer) => {
          if (isAnswerTo(answer, query)) resolve(answer);
        });
        socket.connect(port, address, (error?: Error) => (error ? reject(error) : socket.send(query)));
      },
      { dispose: () => socket.close() },
    );
  }

  #overTcp(query: Buffer, { address, port }: ResolverAddress): Promise<Buffer> {
    const socket = connect({ host: address, port });
    return this.#within(
      (resolve, reject) => {
        const frames = new MessageFrames((answer) => {
          if (isAnswerTo(answer, query)) resolve(answer);
        });
        socket.on('error', reject);
        socket.on('end', () => reject(new Error('it ended the connection')));
        socket.on('data', (bytes: Buffer) => frames.add(bytes));
        socket.write(frame(query));
      },
      { dispose: () => socket.destroy() },
    );
  }

  async #within(
    work: (resolve: (answer: Buffer) => void, reject: (error: Error) => void) => void,
    socket: Disposable,
  ): Promise<Buffer> {
    let timer: Disposable | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = this.#options.clock.schedule(answerMs, () => reject(new Error('it does not answer')));
        work(resolve, reject);
      });
    } finally {
      timer?.dispose();
      socket.dispose();
    }
  }
}

function placeOf({ address, port }: ResolverAddress): string {
  return `${address}#${port}`;
}
