import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent } from 'node:https';
import type { SecureContextOptions } from 'node:tls';

/** A server that requests are sent to, and the key material of its administrator. PEM. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** Open connections to one server, with the administrator's certificate and without any. */
export class Target {
  readonly address: ServerAddress;
  readonly #known: Agent;
  readonly #unknown: Agent;
  #session: ClientHttp2Session | undefined;

  constructor(address: ServerAddress) {
    this.address = address;
    this.#known = new Agent({ ...this.#options(true), keepAlive: true, maxSockets: 64 });
    this.#unknown = new Agent({ ...this.#options(false), keepAlive: false, maxSockets: 64 });
  }

  agent(withCertificate: boolean): Agent {
    return withCertificate ? this.#known : this.#unknown;
  }

  session(): ClientHttp2Session {
    if (!this.#session || this.#session.closed || this.#session.destroyed) {
      const { host, port } = this.address;
      this.#session = connect(`https://${host}:${port}`, this.#options(true));
      this.#session.on('error', () => undefined);
    }
    return this.#session;
  }

  close(): void {
    this.#known.destroy();
    this.#unknown.destroy();
    this.#session?.destroy();
  }

  #options(withCertificate: boolean): SecureContextOptions & { checkServerIdentity: () => undefined } {
    const { authority, certificate, key } = this.address;
    return {
      ca: authority,
      // The authority is what is verified; its certificates name other hosts too.
      checkServerIdentity: () => undefined,
      ...(withCertificate ? { cert: certificate, key } : {}),
    };
  }
}
