import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { toError } from '@sheaf/base';

/** The shape of the API server's `WebhookTarget`. */
export interface HttpsWebhookTarget {
  readonly url: string;
  readonly connect?: { readonly host: string; readonly port: number };
  readonly authority?: string;
}

export interface HttpsWebhookLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface HttpsWebhookAnswer {
  readonly status: number;
  readonly body: string;
}

/** Larger answers are a fault of the webhook: no object is larger than a few MiB. */
export const maxAnswerBytes = 16 * 1024 * 1024;
const maxIdleSockets = 16;

/** Posts JSON to webhooks over HTTPS. Connections are kept; certificates are verified; redirects are not followed. */
export class HttpsWebhookClient {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: maxIdleSockets });

  /** @throws Error whose message says what went wrong */
  readonly call = async (
    target: HttpsWebhookTarget,
    body: string,
    { timeoutMs, signal }: HttpsWebhookLimits,
  ): Promise<HttpsWebhookAnswer> => {
    const limit = AbortSignal.timeout(timeoutMs);
    const ends = AbortSignal.any([signal, limit]);
    const bytes = Buffer.from(body);
    try {
      return await this.#post(target, bytes, ends);
    } catch (error) {
      if (limit.aborted) throw new Error('context deadline exceeded', { cause: error });
      if (signal.aborted) throw new Error('context canceled', { cause: error });
      throw new Error(faultText(toError(error)), { cause: error });
    }
  };

  dispose(): void {
    this.#agent.destroy();
  }

  async #post(target: HttpsWebhookTarget, bytes: Buffer, signal: AbortSignal): Promise<HttpsWebhookAnswer> {
    const options = requestOptions(target, bytes);
    try {
      return await this.#postOnce(options, bytes, signal);
    } catch (error) {
      // The other side may close a kept connection just when it is used again: nothing has been asked then.
      if (error instanceof StaleConnection && !signal.aborted) return this.#postOnce(options, bytes, signal);
      throw error;
    }
  }

  #postOnce(options: RequestOptions, bytes: Buffer, signal: AbortSignal): Promise<HttpsWebhookAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest({ ...options, agent: this.#agent, signal });
      outgoing.on('response', (incoming) => {
        readBody(incoming).then((body) => resolve({ status: incoming.statusCode ?? 502, body }), reject);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        reject(outgoing.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection(error) : error);
      });
      outgoing.end(bytes);
    });
  }
}

class StaleConnection extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

function requestOptions({ url, connect, authority }: HttpsWebhookTarget, bytes: Buffer): RequestOptions {
  const { hostname, port, pathname, search, protocol, host } = new URL(url);
  if (protocol !== 'https:') throw new Error(`webhooks are called over https, not ${protocol}`);
  const name = hostname.replace(/^\[|\]$/g, '');
  const isAddress = /^[\d.]+$|:/.test(name);
  return {
    method: 'POST',
    host: connect?.host ?? name,
    port: connect?.port ?? (port || 443),
    path: `${pathname}${search}`,
    // An address cannot be a server name; the certificate is still checked against it.
    ...(isAddress ? {} : { servername: name }),
    ...(authority ? { ca: authority } : {}),
    headers: {
      host,
      accept: 'application/json',
      'content-type': 'application/json',
      'content-length': String(bytes.length),
      'user-agent': 'sheaf-admission',
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxAnswerBytes) {
      incoming.destroy();
      throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const tlsFaults: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
]);

/** The words that operators know, where there are such. */
function faultText(error: Error): string {
  const { code = '', address, port } = error as { code?: string; address?: string; port?: number };
  const place = address ? `dial tcp ${address}:${port}: ` : '';
  if (code === 'ECONNREFUSED') return `${place}connect: connection refused`;
  if (tlsFaults.has(code))
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  if (code === 'CERT_HAS_EXPIRED')
    return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: x509: ${error.message}`;
  if (code === 'ENOTFOUND') return `dial tcp: ${error.message}: no such host`;
  if (error instanceof AggregateError) return error.errors.map((item) => toError(item).message).join('; ');
  return error.message;
}
