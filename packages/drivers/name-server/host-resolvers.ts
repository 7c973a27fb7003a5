import { readFileSync } from 'node:fs';
import type { Clock } from '@sheaf/base';

export interface ResolverAddress {
  readonly address: string;
  readonly port: number;
}

interface Configuration {
  readonly servers: readonly ResolverAddress[];
  readonly searches: readonly string[];
}

const freshMs = 5000;
/** As many as the host itself would ask. */
const most = 3;

/** What this host is told about names (`/etc/resolv.conf`), read anew every few seconds. */
export class HostResolvers {
  readonly #path: string;
  readonly #clock: Clock;
  #known: (Configuration & { readonly untilMs: number }) | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** A host without the file, or whose file cannot be read, has none. */
  read(): Configuration {
    const now = this.#clock.monotonic();
    if (this.#known && now < this.#known.untilMs) return this.#known;
    this.#known = { ...parse(textOf(this.#path)), untilMs: now + freshMs };
    return this.#known;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The last list of domains counts. Ports are no part of the file; tests write `ADDRESS#PORT`. */
function parse(text: string): Configuration {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const servers = lines
    .filter(([word]) => word === 'nameserver')
    .map(([, address = '']) => serverOf(address));
  const searches = lines.filter(([word]) => word === 'search' || word === 'domain').at(-1) ?? [];
  return {
    servers: servers.filter(({ address }) => address !== '').slice(0, most),
    searches: searches
      .slice(1)
      .map((name) => name.replace(/\.$/, ''))
      .filter((name) => name !== ''),
  };
}

function serverOf(text: string): ResolverAddress {
  const [address = '', port = '53'] = text.split('#');
  return { address, port: Number(port) };
}
