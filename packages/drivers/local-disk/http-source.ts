import { lookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { toError } from '@sheaf/base';
import { type AddressScope, mayRedirect, scopeOf } from './address-scope.ts';

const mostRedirects = 10;

/** How names are turned into addresses, and what these are. */
export interface AddressBook {
  /** The address to connect to. */
  resolve(hostname: string): Promise<string>;
  scopeOf(address: string): AddressScope;
}

export const systemAddressBook: AddressBook = {
  async resolve(hostname) {
    return (await lookup(hostname)).address;
  },
  scopeOf,
};

/** What the source sends will not become right by asking again. */
export class SourceFault extends Error {}

export interface HttpQuestion {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly additionalAuthorities?: string | undefined;
  /** Bytes are verified, so that it does not matter who may have changed them on the way. */
  readonly isVerified: boolean;
  readonly signal: AbortSignal;
}

interface Hop {
  readonly url: URL;
  readonly scope: AddressScope;
}

/** Asks with GET and follows redirects; each name is resolved once, and the address that was looked at is the one used. */
export class HttpSource {
  readonly #addresses: AddressBook;

  constructor(addresses: AddressBook) {
    this.#addresses = addresses;
  }

  /** @throws SourceFault; Error where it may go better next time */
  async ask(question: HttpQuestion): Promise<IncomingMessage> {
    let url = checkedUrl(question.url);
    let named: Hop | undefined;
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const address = await this.#addressOf(url);
      const hop: Hop = { url, scope: this.#addresses.scopeOf(address) };
      if (named) checkRedirect(named, hop, question.isVerified);
      named ??= hop;
      question.signal.throwIfAborted();
      const answer = await send(hop.url, address, { question, isNamedHost: url.host === named.url.host });
      const next = redirectOf(answer, url);
      if (!next) return answer;
      answer.destroy();
      url = next;
    }
    throw new SourceFault(`${question.url} sends on more than ${mostRedirects} times; name the last address`);
  }

  async #addressOf(url: URL): Promise<string> {
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(hostname)) return hostname;
    try {
      return await this.#addresses.resolve(hostname);
    } catch (error) {
      throw new Error(`the name ${hostname} is not known: ${toError(error).message}`, { cause: error });
    }
  }
}

/** @throws SourceFault */
export function checkedUrl(text: string): URL {
  if (!URL.canParse(text)) throw new SourceFault(`"${shownUrl(text)}" is no URL`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new SourceFault(
      `${shownUrl(text)}: only http and https can be downloaded; upload the file instead`,
    );
  return url;
}

/** Without user and password. */
export function shownUrl(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//');
}

function checkRedirect(from: Hop, to: Hop, isVerified: boolean): void {
  const where = `${shownUrl(from.url.href)} sends on to ${shownUrl(to.url.href)}`;
  if (!mayRedirect(from.scope, to.scope))
    throw new SourceFault(`${where}, an address that is ${to.scope}; if that is wanted, name it directly`);
  if (from.url.protocol === 'https:' && to.url.protocol === 'http:' && !isVerified)
    throw new SourceFault(`${where}, where others may change it on the way; give its SHA-512`);
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, base: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, base.href))
    throw new SourceFault(`${shownUrl(base.href)} sends on to what is no URL`);
  return checkedUrl(new URL(headers.location, base).href);
}

function send(
  url: URL,
  address: string,
  { question, isNamedHost }: { question: HttpQuestion; isNamedHost: boolean },
): Promise<IncomingMessage> {
  const family = isIP(address);
  const options: RequestOptions & { ca?: string[] } = {
    method: 'GET',
    agent: false,
    signal: question.signal,
    headers: { ...question.headers, 'accept-encoding': 'identity', 'user-agent': 'sheaf' },
    lookup: (_hostname, { all }, done) => {
      if (all) done(null, [{ address, family }]);
      else done(null, address, family);
    },
    ...(isNamedHost && url.username !== '' ? { auth: credentialsOf(url) } : {}),
    ...(question.additionalAuthorities === undefined
      ? {}
      : { ca: [...rootCertificates, question.additionalAuthorities] }),
  };
  const plain = new URL(url.href);
  plain.username = '';
  plain.password = '';
  return new Promise((resolve, reject) => {
    const outgoing = (url.protocol === 'https:' ? httpsRequest : httpRequest)(plain, options);
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function credentialsOf(url: URL): string {
  return `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
}
