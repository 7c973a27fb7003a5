import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

/** The shape of the API server's `UpstreamTarget`. */
export interface HttpsTarget {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
  readonly authority: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

export interface HttpsCall {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export interface HttpsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Calls aggregated API servers, showing the client certificate by which they know this server. Connections are kept. */
export class HttpsUpstream {
  readonly #agent: Agent;

  constructor(certificate: { readonly certificatePem: string; readonly privateKeyPem: string }) {
    this.#agent = new Agent({
      keepAlive: true,
      cert: certificate.certificatePem,
      key: certificate.privateKeyPem,
    });
  }

  /** @throws Error when the server cannot be reached or trusted */
  async call(target: HttpsTarget, call: HttpsCall): Promise<HttpsAnswer> {
    const incoming = await this.#send(target, call);
    const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return { status: incoming.statusCode ?? 502, headers: Object.fromEntries(headers), chunks: incoming };
  }

  dispose(): void {
    this.#agent.destroy();
  }

  #send(
    target: HttpsTarget,
    { method, target: path, headers, body, signal }: HttpsCall,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest({
        agent: this.#agent,
        host: target.host,
        port: target.port,
        servername: target.serverName,
        rejectUnauthorized: !target.insecureSkipTlsVerify,
        ...(target.authority ? { ca: target.authority } : {}),
        method,
        path,
        headers: {
          ...headers,
          host: target.serverName,
          ...(body.length > 0 ? { 'content-length': String(body.length) } : {}),
        },
        signal,
      });
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}
