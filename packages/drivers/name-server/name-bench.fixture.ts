import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Disposable, type Logger, silentLogger } from '@sheaf/base';
import type { NameAnswer, NameQuestion, NameRecord, NameServer, ProxyBackend } from '@sheaf/ports';
import type { NameBench, Outcome, ResolverAnswer } from '@sheaf/ports/name-server.contract';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { readQuery } from './message-reader.ts';
import { longestReply, writeReply } from './message-writer.ts';
import { responseCodes } from './record-types.ts';
import { openNameServer } from './register.ts';
import { frame, MessageFrames } from './stream-framing.ts';

const codes: Readonly<Record<string, Outcome>> = {
  ENOTFOUND: 'absent',
  ENODATA: 'nothing',
  ESERVFAIL: 'failed',
};

/** A server on this host, asked with the client of Node, and resolvers that a test makes. */
export class LoopbackBench implements NameBench {
  readonly server: NameServer;
  readonly #directory: string;
  readonly #lines: string[] = [];
  readonly #ends: Disposable[] = [];
  readonly #client = new Resolver({ timeout: 8000, tries: 1 });
  #backend: ProxyBackend | undefined;

  private constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    const server = openNameServer({
      clock: systemClock,
      random: systemRandom,
      logger,
      resolverFile: join(directory, 'resolv.conf'),
    });
    this.server = {
      searches: () => server.searches(),
      dispose: () => server.dispose(),
      start: (answer) => this.#start(server, answer),
    };
  }

  static async with(use: (bench: LoopbackBench) => Promise<void>, logger = silentLogger): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'names-'));
    const bench = new LoopbackBench(directory, logger);
    try {
      await use(bench);
    } finally {
      bench.server.dispose();
      for (const each of bench.#ends) each.dispose();
      await rm(directory, { recursive: true, force: true });
    }
  }

  get backend(): ProxyBackend {
    return this.#backend ?? { address: '', port: 0 };
  }

  addResolver = async (answer: (question: NameQuestion) => ResolverAnswer): Promise<void> => {
    const resolver = await openResolver(answer);
    this.#ends.push(resolver);
    await this.#write(`nameserver 127.0.0.1#${resolver.port}`);
  };

  addSearch = async (domain: string): Promise<void> => {
    await this.#write(`search ${domain}.`);
  };

  ask = async (name: string, type: Parameters<NameBench['ask']>[1]): Promise<Outcome> => {
    try {
      const found: unknown = await this.#client.resolve(name, type);
      const all = Array.isArray(found) ? found : [found];
      const texts = all.map((each) => `${name.toLowerCase()} ${type} ${dataOf(each)}`);
      return (await this.#seenName(name, type, texts)).toSorted((a, b) => a.localeCompare(b));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      const outcome = codes[code];
      if (outcome === undefined) throw error;
      return outcome;
    }
  };

  /** The client tells addresses without the name that has them: that is asked for. */
  async #seenName(name: string, type: string, texts: readonly string[]): Promise<readonly string[]> {
    if (type !== 'A') return texts;
    let seen = name.toLowerCase();
    for (;;) {
      const aliases = await this.#client.resolveCname(seen).catch(() => []);
      if (aliases[0] === undefined) return texts.map((text) => text.replace(/^\S+/, seen));
      seen = aliases[0];
    }
  }

  async #start(server: NameServer, answer: (question: NameQuestion) => NameAnswer): Promise<ProxyBackend> {
    this.#backend = await server.start(answer);
    this.#client.setServers([`${this.#backend.address}:${this.#backend.port}`]);
    return this.#backend;
  }

  async #write(line: string): Promise<void> {
    this.#lines.push(line);
    await writeFile(join(this.#directory, 'resolv.conf'), `# of a test\n${this.#lines.join('\n')}\n`);
  }
}

function dataOf(found: unknown): string {
  if (Array.isArray(found)) return found.join('');
  if (typeof found !== 'object' || found === null) return String(found);
  const { nsname, hostmaster, serial, weight, port, name } = found as Record<string, unknown>;
  return (nsname === undefined ? [weight, port, name] : [nsname, hostmaster, serial]).map(String).join(' ');
}

/** A resolver of the host; it cuts what is too long for UDP. */
async function openResolver(
  answer: (question: NameQuestion) => ResolverAnswer,
): Promise<Disposable & { readonly port: number }> {
  const reply = (message: Buffer, isWhole: boolean): Buffer | undefined => {
    const query = readQuery(message);
    const told = query.type === 'A' ? answer(query) : [];
    if (told === 'silence') return undefined;
    const code = told === 'absent' ? responseCodes.absent : responseCodes.done;
    const records = (told === 'absent' ? [] : told).map(
      (address): NameRecord => ({ name: query.name, type: 'A', address }),
    );
    return writeReply(query, { code, isOwn: false, records }, isWhole ? 65_535 : longestReply(query));
  };
  const server = createServer((socket) => {
    const frames = new MessageFrames((message) => {
      const bytes = reply(message, true);
      if (bytes) socket.write(frame(bytes));
    });
    socket.on('data', (bytes: Buffer) => frames.add(bytes)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const socket = createSocket('udp4');
  socket.on('message', (message, sender) => {
    const bytes = reply(message, false);
    if (bytes) socket.send(bytes, sender.port, sender.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(port, '127.0.0.1', resolve);
  });
  return {
    port,
    dispose() {
      socket.close();
      server.close();
    },
  };
}
